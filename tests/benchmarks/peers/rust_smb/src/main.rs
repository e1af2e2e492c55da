//! The contender `smb` (Rust) of the bench: one login, then a transfer for each line "get PATH BYTES PARALLEL" on
//! stdin; the answer is the number of seconds it took.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

use smb::{Client, ClientConfig, FileAccessMask, FileCreateArgs, UncPath};

const BLOCK_BYTES: u64 = 1 << 20;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let address = SocketAddr::from_str(&arguments[1])?;
    let host = address.ip().to_string();
    let password = std::env::var("PASSWD")?;

    let mut config = ClientConfig::default();
    config.dfs = false;
    config.connection.port = Some(address.port());
    let client = Client::new(config);
    let share = UncPath::from_str(&format!(r"\\{host}\{}", arguments[2]))?;
    client.share_connect(&share, &arguments[3], password).await?;

    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let path = share.clone().with_path(words[1]);
        let size: u64 = words[2].parse()?;
        let parallel: u64 = words[3].parse()?;
        let began = Instant::now();
        get(&client, &path, size, parallel).await?;
        println!("{}", began.elapsed().as_secs_f64());
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Reads a whole file, as many blocks at once as are asked for.
async fn get(client: &Client, path: &UncPath, size: u64, parallel: u64) -> Result<(), Failure> {
    let access = FileAccessMask::new().with_generic_read(true);
    let resource = client.create_file(path, &FileCreateArgs::make_open_existing(access)).await?;
    let file = Arc::new(resource.unwrap_file());
    let next = Arc::new(AtomicU64::new(0));

    let mut tasks = Vec::new();
    for _ in 0..parallel {
        let (file, next) = (file.clone(), next.clone());
        tasks.push(tokio::spawn(async move {
            let mut block = vec![0u8; BLOCK_BYTES as usize];
            loop {
                let offset = next.fetch_add(BLOCK_BYTES, Ordering::Relaxed);
                if offset >= size {
                    return Ok::<(), std::io::Error>(());
                }
                let mut done = 0;
                while done < BLOCK_BYTES.min(size - offset) as usize {
                    done += file.read_block(&mut block[done..], offset + done as u64, None, false).await?;
                }
            }
        }));
    }
    for task in tasks {
        task.await??;
    }
    file.close().await?;
    Ok(())
}
