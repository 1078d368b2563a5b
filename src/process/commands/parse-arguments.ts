/** Parses the arguments of a command: a fixed number of words, and options. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { formatCommand } from '../../config/operator-command.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** Parses arguments. Throws an error with the usage if they do not match it. The error does not quote them, because they may be secrets. */
export function parseArguments<const T extends Options>(
  args: readonly string[],
  { usage, words, options }: { usage: string; words: number; options: T },
) {
  const read = () => parseArgs({ args: [...args], options, allowPositionals: true })
  let parsed: ReturnType<typeof read> | null = null
  try {
    parsed = read()
  } catch {}
  if (parsed?.positionals.length !== words) throw new Error(`usage: ${formatCommand(usage)}`)
  return { words: parsed.positionals, options: parsed.values }
}
