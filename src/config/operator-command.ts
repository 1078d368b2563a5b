/** How an operator calls the program's commands, for lines that are there to be copied. */
import { basename, delimiter } from 'node:path'
import { isCompiledBinary } from '../event-loop/self-command.ts'
import { processEnvironment } from './process-environment.ts'

/** As OPERATOR_COMMAND says, which is how the program is reached in a container; else as it was started itself. */
export function formatCommand(name: string): string {
  return `${ownCommand()} ${name}`
}

/** Whether the line works in any shell, whatever is set there. */
export const hasOperatorCommand = () => Boolean(processEnvironment.OPERATOR_COMMAND?.trim())

function ownCommand(): string {
  const given = processEnvironment.OPERATOR_COMMAND?.trim()
  if (given) return given
  if (isCompiledBinary) return Bun.which('model-proxy') ? 'model-proxy' : process.execPath
  return Bun.which('bun', { PATH: pathOfShell() }) ? 'bun run' : 'npx bun run'
}

/** Without what npm's and Bun's runners put before it, where a package's own Bun is. */
function pathOfShell(): string {
  const folders = (processEnvironment.PATH ?? '').split(delimiter)
  return folders
    .filter(folder => basename(folder) !== '.bin' && !basename(folder).startsWith('bun-node-'))
    .join(delimiter)
}
