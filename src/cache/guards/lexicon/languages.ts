/** Names of languages, spoken and programmed, and of tools whose answers differ: one named by one side alone changes the question. */
import { wordSet } from './word-list.ts'

export const languages = wordSet(`
  english french spanish german italian portuguese dutch swedish norwegian danish finnish icelandic polish czech slovak hungarian
  romanian bulgarian greek turkish russian ukrainian serbian croatian bosnian slovenian lithuanian latvian estonian arabic hebrew
  persian farsi urdu hindi bengali tamil telugu marathi gujarati punjabi malayalam kannada chinese mandarin cantonese japanese korean
  vietnamese thai indonesian malay tagalog filipino swahili amharic latin sanskrit esperanto irish welsh scottish gaelic catalan
  basque galician albanian armenian georgian azerbaijani kazakh uzbek mongolian nepali sinhala burmese khmer lao zulu afrikaans
  yoruba hausa somali
  python java javascript js typescript ts c++ c# ruby php perl rust golang kotlin swift scala haskell elixir erlang clojure lua
  matlab fortran cobol pascal julia dart bash powershell sql html css f# vba ocaml prolog lisp
  react angular vue svelte django flask rails laravel nodejs node.js deno bun jquery numpy pandas pytorch tensorflow
  mysql postgresql postgres sqlite oracle mongodb redis excel linux windows macos ubuntu debian android ios
`)
