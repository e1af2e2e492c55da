//! Serves one folder as the share `bench` to one user, until it is ended.
//!
//! independent-smb PORT FOLDER USER [signed] [no-leases] [no-notify] [small]
//! The user's password is in INDEPENDENT_SMB_PASSWORD.

use smb_server::{Access, LocalFsBackend, Share, SmbServer};

/// The smallest READ and WRITE that the crate can be told to stop at.
const SMALL: u32 = 64 * 1024;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [port, folder, user, options @ ..] = words.as_slice() else {
        return Err("usage: independent-smb PORT FOLDER USER [OPTION…]".into());
    };
    let password = std::env::var("INDEPENDENT_SMB_PASSWORD")?;
    let has = |option: &str| options.iter().any(|word| word == option);

    let share = Share::new("bench", LocalFsBackend::new(folder)?)
        .user(user, Access::ReadWrite)
        .leases(!has("no-leases"))
        .durable_handles(!has("no-leases"))
        .change_notify(!has("no-notify"));

    let mut builder = SmbServer::builder()
        .listen(format!("127.0.0.1:{port}").parse()?)
        .user(user, password)
        .require_signing(has("signed"))
        .share(share);
    if has("small") {
        builder = builder.max_read_size(SMALL).max_write_size(SMALL);
    }

    let server = builder.build()?;
    server.bind().await?;
    server.serve().await?;
    Ok(())
}
