/** JSON whose numbers survive, as every translation reads it. */
export { parseExactly } from '../../json/exact-json.ts'
