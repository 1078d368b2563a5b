/** The arguments of an operator's command: so many words, and options. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { formatCommand } from '../../config/operator-command.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** Throws the usage where anything is too many or too few. What was given is not quoted: it may be a secret. */
export function readArguments<const T extends Options>(
  args: readonly string[],
  { usage, words, options }: { usage: string; words: number; options: T },
) {
  const read = () => parseArgs({ args: [...args], options, allowPositionals: true })
  let given: ReturnType<typeof read> | null = null
  try {
    given = read()
  } catch {}
  if (given?.positionals.length !== words) throw new Error(`usage: ${formatCommand(usage)}`)
  return { words: given.positionals, options: given.values }
}
