/** A process of its own that holds connections open until it is ended: so many are more than a test's may have beside its own. */
import { connect } from 'node:net'

const [port = 0, connections = 0, silent = 0] = process.argv.slice(2).map(Number)

let open = 0
for (let i = 0; i < connections; i++) {
  const socket = connect(port, '127.0.0.1', () => {
    if (++open === connections) process.stdout.write('all are open\n')
  })
  socket.on('error', () => {})
  // Every other one begins a next request when it has an answer, and does not end it.
  if (i % 2) socket.on('data', () => socket.write('G'))
  // Bun ends by itself those that stay silent for twelve seconds.
  if (i >= silent) socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nContent-Length: 2\r\n\r\n{}')
}
