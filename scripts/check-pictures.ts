/** Checks that no picture in docs/dashboard is older than its page. */
import { modulesOfPages } from '../test/browser/open-browser.ts'
import { findOldPictures, hashPictures, RECORD } from './picture-sources.ts'

const file = Bun.file(RECORD)
const recorded: Record<string, string> = (await file.exists()) ? await file.json() : {}
const old = findOldPictures(recorded, await hashPictures(modulesOfPages()))
if (old.length > 0) {
  process.stderr.write(`${old.length} pictures in docs/dashboard are older than their pages. Take them again with:
  bun scripts/take-screenshots.ts docs/dashboard ${old.join(' ')}\n`)
  process.exit(1)
}
