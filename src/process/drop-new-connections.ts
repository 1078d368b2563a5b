/**
 * Lets a listener take no new connections, while those that clients consider open are still served.
 *
 * The kernel completes handshakes by itself, and hands a connection over only when its request has come (TCP_DEFER_ACCEPT). A listener that
 * is closed meanwhile resets it, and a load balancer that has sent a POST must not repeat it. So a filter drops the packets that open
 * connections first. Their senders repeat them within a second, are refused then, and go to another server with nothing lost.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const SOL_SOCKET = 1
const SO_ATTACH_FILTER = 26
/** Drops each packet whose flags (byte 13 of a TCP header) say SYN without ACK. As `bpf(4)`: operation, jump if true, if false, operand. */
const DROP_SYN = [
  [0x30, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffffffff],
] as const
const INSTRUCTION_BYTES = 8

/** Returns whether it could be done: on Linux, where the C library can be called. */
export function dropNewConnections(port: number): boolean {
  try {
    const sockets = listenersOf(port)
    return sockets.length > 0 && sockets.every(attachFilter)
  } catch {
    return false
  }
}

/** This process's sockets that listen on the port. */
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

/** '' for a descriptor that was closed meanwhile. */
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
