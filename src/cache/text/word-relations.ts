/** Relations of two words: the same root with different prefixes, or a shared meaning. */

const prefixes =
  /^(?:un|in|im|ir|il|dis|de|en|ex|mis|non|anti|over|under|up|down|pre|post|out|hyper|hypo|inter|intra|micro|macro|re)(?=[a-z]{4})/

/** Returns whether two words have one root with different prefixes: "encrypt" and "decrypt", "include" and "exclude". */
export function differInPrefix(one: string, other: string): boolean {
  const [ours, theirs] = [one.replace(prefixes, ''), other.replace(prefixes, '')]
  return ours === theirs || ours === other || theirs === one
}

/** Returns whether a frequent sense of one word is a sense of the other. */
export function haveCommonSense(ours: readonly number[], theirs: readonly number[]): boolean {
  return (
    ours.slice(0, 2).some(sense => theirs.includes(sense)) || theirs.slice(0, 2).some(sense => ours.includes(sense))
  )
}
