/** Lua scripts are imported as text. */
declare module '*.lua' {
  const text: string
  export default text
}
