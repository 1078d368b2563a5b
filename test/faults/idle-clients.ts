/** A separate process that holds connections open until it is ended. One process cannot hold them in addition to the test's own. */
import { connect } from 'node:net'

const [port = 0, connections = 0, silent = 0] = process.argv.slice(2).map(Number)

let open = 0
for (let i = 0; i < connections; i++) {
  const socket = connect(port, '127.0.0.1', () => {
    if (++open === connections) process.stdout.write('all are open\n')
  })
  socket.on('error', () => {})
  // Every second connection begins another request after a response, and never completes it.
  if (i % 2) socket.on('data', () => socket.write('G'))
  // Bun closes connections that are silent for twelve seconds.
  if (i >= silent) socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nContent-Length: 2\r\n\r\n{}')
}
