/**
 * Stops a listener from accepting new connections, while those that clients consider open are still served.
 *
 * The kernel completes handshakes by itself, and passes a connection on only once its request has arrived (TCP_DEFER_ACCEPT). If the listener
 * closes before that, it resets the connection, and a load balancer must not repeat a POST that it has sent. Therefore a filter first drops
 * the packets that open connections. Clients resend them within a second, are refused then, and choose another server without loss.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const SOL_SOCKET = 1
const SO_ATTACH_FILTER = 26
/** A BPF program that drops packets with SYN and without ACK (byte 13 of the TCP header): operation, jump if true, jump if false, operand. */
const DROP_SYN = [
  [0x30, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffffffff],
] as const
const INSTRUCTION_BYTES = 8

/** Attaches the filter. Returns false if that is not possible: it needs Linux and glibc. */
export function dropNewConnections(port: number): boolean {
  try {
    const sockets = listenersOf(port)
    return sockets.length > 0 && sockets.every(attachFilter)
  } catch {
    return false
  }
}

/** Returns the sockets of this process that listen on the port. */
function listenersOf(port: number): number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const listening = ['tcp', 'tcp6'].flatMap(family =>
    readFileSync(`/proc/self/net/${family}`, 'latin1')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(([, address = '', , state]) => state === '0A' && address.endsWith(suffix))
      .map(columns => `socket:[${columns[9]}]`),
  )
  return readdirSync('/proc/self/fd')
    .filter(descriptor => listening.includes(linkOf(descriptor)))
    .map(Number)
}

/** Returns the target of a descriptor; '' if it was closed meanwhile. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return ''
  }
}

function attachFilter(socket: number): boolean {
  const program = new DataView(new ArrayBuffer(DROP_SYN.length * INSTRUCTION_BYTES))
  for (const [i, [operation, ifTrue, ifFalse, operand]] of DROP_SYN.entries()) {
    const at = i * INSTRUCTION_BYTES
    program.setUint16(at, operation, true)
    program.setUint8(at + 2, ifTrue)
    program.setUint8(at + 3, ifFalse)
    program.setUint32(at + 4, operand, true)
  }
  // struct sock_fprog: a length, padded to eight bytes, and a pointer.
  const described = BigUint64Array.of(BigInt(DROP_SYN.length), BigInt(ptr(program.buffer)))
  const { i32, u32 } = FFIType
  const { symbols } = dlopen('libc.so.6', { setsockopt: { args: [i32, i32, i32, FFIType.ptr, u32], returns: i32 } })
  return symbols.setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, ptr(described), described.byteLength) === 0
}
