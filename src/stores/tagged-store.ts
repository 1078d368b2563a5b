/** A fast store whose entries carry integrity tags: one with a wrong tag is a miss, and goes. */
import { type EntryTags, TAG_BYTES } from './entry-tags.ts'
import { aliasTarget, type FastStore } from './fast-store.ts'
import { createKnownEntries } from './known-entries.ts'

export interface TaggedEntries {
  /** What a store gave for a name, without its tags; null where one is wrong. */
  open(name: string, stored: Uint8Array | null): Uint8Array | null
}

export interface TaggingOptions {
  tags: EntryTags
  /** Told of each entry whose tag is wrong. */
  onWrong(name: string): void
}

export function tagEntries(store: FastStore, { tags, onWrong }: TaggingOptions): FastStore & TaggedEntries {
  const known = createKnownEntries()

  function check(name: string, stored: Uint8Array): Uint8Array | null {
    const opened = openTagged(tags, name, stored)
    if (!('wrong' in opened)) return opened.bytes
    onWrong(opened.wrong)
    store.deleteEntry(opened.wrong).catch(() => {})
    return null
  }

  function open(name: string, stored: Uint8Array | null): Uint8Array | null {
    return stored && check(name, stored)
  }

  /** Of an exact entry: the popular ones are read again and again. */
  function openExact(name: string, stored: Uint8Array | null): Uint8Array | null {
    if (!stored) return null
    return known.find(name, stored) ?? known.open(name, stored, bytes => check(name, bytes))
  }

  return {
    ...store,
    open,
    async pass(batch) {
      const verdict = await store.pass(batch)
      return { ...verdict, entries: verdict.entries.map((stored, i) => openExact(batch.entries[i] ?? '', stored)) }
    },
    writeEntry: (name, bytes, ttlMs) => store.writeEntry(name, tags.tag(name, bytes), ttlMs),
    async readEntries(names) {
      const stored = await store.readEntries(names)
      return stored.map((bytes, i) => open(names[i] ?? '', bytes))
    },
    writeEntries: entries =>
      store.writeEntries(entries.map(entry => ({ ...entry, bytes: tags.tag(entry.name, entry.bytes) }))),
  }
}

const LINE_FEED = 10

/** `wrong`: the name of the entry that it stands under. */
type Opened = { bytes: Uint8Array | null } | { wrong: string }

/** An alias comes with the entry that it names behind it, each with a tag; without one it leads nowhere. */
function openTagged(tags: EntryTags, name: string, stored: Uint8Array): Opened {
  const target = aliasTarget(stored, TAG_BYTES)
  if (target === null) {
    const bytes = tags.check(name, stored)
    return bytes ? { bytes } : { wrong: name }
  }
  const end = stored.indexOf(LINE_FEED, TAG_BYTES) + 1
  const alias = tags.check(name, stored.subarray(0, end))
  if (!alias) return { wrong: name }
  if (end === stored.length) return { bytes: null }
  if (!tags.check(target, stored.subarray(end))) return { wrong: target }
  // Moved to where the entry's own bytes begin: those are not copied, however many they are.
  const start = end + TAG_BYTES - alias.length
  stored.copyWithin(start, TAG_BYTES, end)
  return { bytes: stored.subarray(start) }
}
