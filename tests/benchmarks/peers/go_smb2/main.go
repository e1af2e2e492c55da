// The contender go-smb2 of the bench: one login, then a transfer for each line "get PATH BYTES PARALLEL" on stdin;
// the answer is the number of seconds it took.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cloudsoda/go-smb2"
)

const blockBytes = 1 << 20

func main() {
	address, share, user := os.Args[1], os.Args[2], os.Args[3]
	dialer := &smb2.Dialer{Initiator: &smb2.NTLMInitiator{User: user, Password: os.Getenv("PASSWD")}}
	session, err := dialer.Dial(context.Background(), address)
	check(err)
	tree, err := session.Mount(share)
	check(err)

	lines := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for lines.Scan() {
		var command, path string
		var size int64
		var parallel int
		_, err := fmt.Sscan(lines.Text(), &command, &path, &size, &parallel)
		check(err)
		began := time.Now()
		switch command {
		case "get":
			get(tree, path, size, parallel)
		case "put":
			put(tree, path, size, parallel)
		case "list":
			_, err := tree.ReadDir(path)
			check(err)
		}
		fmt.Println(time.Since(began).Seconds())
	}
}

func get(tree *smb2.Share, path string, size int64, parallel int) {
	file, err := tree.Open(path)
	check(err)
	defer file.Close()
	move(size, parallel, func(buffer []byte, offset int64) {
		_, err := file.ReadAt(buffer, offset)
		if err != nil && err != io.EOF {
			check(err)
		}
	})
}

func put(tree *smb2.Share, path string, size int64, parallel int) {
	file, err := tree.Create(path)
	check(err)
	defer file.Close()
	move(size, parallel, func(buffer []byte, offset int64) {
		_, err := file.WriteAt(buffer, offset)
		check(err)
	})
}

// move asks for all blocks of a file, as many at once as there are workers.
func move(size int64, parallel int, block func(buffer []byte, offset int64)) {
	offsets := make(chan int64)
	var workers sync.WaitGroup
	for range parallel {
		workers.Add(1)
		go func() {
			defer workers.Done()
			buffer := make([]byte, blockBytes)
			for offset := range offsets {
				block(buffer[:min(blockBytes, size-offset)], offset)
			}
		}()
	}
	for offset := int64(0); offset < size; offset += blockBytes {
		offsets <- offset
	}
	close(offsets)
	workers.Wait()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
