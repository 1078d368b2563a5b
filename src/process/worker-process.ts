/** A worker of a supervisor: its process, its heartbeat and its exit code. */
import type { Subprocess } from 'bun'
import { SELF_COMMAND } from '../event-loop/self-command.ts'
import type { Log } from '../telemetry/log.ts'
import type { MetricsSnapshot } from '../telemetry/metrics.ts'
import { monitorHeartbeat } from './heartbeat.ts'

export interface WorkerProcess {
  child: Subprocess
  /** Resolves to true once it serves, or to false if it ends before. */
  ready: Promise<boolean>
  /** Resolves to its exit code. */
  exited: Promise<number>
  /** Returns its metrics, which are at most a second old. */
  metrics(): MetricsSnapshot
}

/** Starts a worker. Kills it if its heartbeats stop. */
export function spawnWorker(log: Log): WorkerProcess {
  const { promise: ready, resolve: resolveReady } = Promise.withResolvers<boolean>()
  const child = Bun.spawn([...SELF_COMMAND, '--worker'], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    // Through IPC, a worker also learns that its supervisor has gone.
    ipc: message => {
      if (heartbeat.receive(message)) resolveReady(true)
    },
  })
  const heartbeat = monitorHeartbeat(() => {
    log.error({ pid: child.pid }, 'a worker has fallen silent; it is killed')
    child.kill('SIGKILL')
  })
  const ended = child.exited.then(code => {
    heartbeat.stop()
    resolveReady(false)
    return code
  })
  return { child, ready: ready, exited: ended, metrics: heartbeat.metrics }
}
