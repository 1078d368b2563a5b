/** One serving process as its supervisor sees it: whether it serves, its heartbeat, and how it ended. */
import type { Subprocess } from 'bun'
import { SELF_COMMAND } from '../event-loop/self-command.ts'
import type { Log } from '../telemetry/log.ts'
import type { MetricsSnapshot } from '../telemetry/metrics.ts'
import { monitorHeartbeat } from './heartbeat.ts'

export interface WorkerProcess {
  child: Subprocess
  /** Resolves to whether it got to serve. */
  ready: Promise<boolean>
  /** Resolves to its exit code. */
  exited: Promise<number>
  /** What it had measured a second ago at most. */
  metrics(): MetricsSnapshot
}

/** A process that falls silent is killed. */
export function spawnWorker(log: Log): WorkerProcess {
  const { promise: serving, resolve: noteServing } = Promise.withResolvers<boolean>()
  const child = Bun.spawn([...SELF_COMMAND, '--worker'], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    // Through IPC, a worker also learns that its supervisor has gone.
    ipc: message => {
      if (pulse.receive(message)) noteServing(true)
    },
  })
  const pulse = monitorHeartbeat(() => {
    log.error({ pid: child.pid }, 'a worker has fallen silent; it is ended')
    child.kill('SIGKILL')
  })
  const ended = child.exited.then(code => {
    pulse.stop()
    noteServing(false)
    return code
  })
  return { child, ready: serving, exited: ended, metrics: pulse.metrics }
}
