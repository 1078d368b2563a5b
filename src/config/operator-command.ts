/** Formats the program's commands as an operator enters them, for messages with a command to copy. */
import { basename, delimiter } from 'node:path'
import { isCompiledBinary } from '../event-loop/self-command.ts'
import { processEnvironment } from './process-environment.ts'

/** Returns the command with the prefix of OPERATOR_COMMAND, which is set in containers, or else with the one that started this process. */
export function formatCommand(name: string): string {
  return `${programCommand()} ${name}`
}

/** Returns whether OPERATOR_COMMAND is set. A formatted command then works in any shell. */
export const hasCommandPrefix = () => Boolean(processEnvironment.OPERATOR_COMMAND?.trim())

function programCommand(): string {
  const configured = processEnvironment.OPERATOR_COMMAND?.trim()
  if (configured) return configured
  if (isCompiledBinary) return Bun.which('model-proxy') ? 'model-proxy' : process.execPath
  return Bun.which('bun', { PATH: shellPath() }) ? 'bun run' : 'npx bun run'
}

/** Returns PATH without the folders that npm's and Bun's runners add, which contain a package's own Bun. */
function shellPath(): string {
  const folders = (processEnvironment.PATH ?? '').split(delimiter)
  return folders
    .filter(folder => basename(folder) !== '.bin' && !basename(folder).startsWith('bun-node-'))
    .join(delimiter)
}
