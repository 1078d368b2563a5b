/** Words that mean another thing with a capital: countries, tongues, companies and programs named like ordinary words. */
import { wordSet } from './word-list.ts'

export const commonOrProper = wordSet(`
  us it who aids ram pin
  polish turkey china japan jordan chad chile cuba guinea nice reading bath cork lima march may august job
  apple windows word access outlook teams oracle shell target gap visa discover chase square stripe slack signal
  rust swift dart basic spring express go pages numbers notes edge chrome safari opera
  buffalo phoenix orlando catholic republican democrat liberal bill mark rose grace hope faith will frank jack amber rich
  mercury mars saturn venus jaguar puma mustang beetle lincoln congress state cardinal
`)
