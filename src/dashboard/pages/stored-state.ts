/** State that the browser remembers, such as the columns of a table. */
import { useState } from 'react'

/** Like `useState`, but stored in this browser under a name. A stored value that is not valid counts as missing. */
export function useStoredState<Value>(
  name: string,
  initial: Value,
  isValid: (stored: unknown) => stored is Value,
): [Value, (value: Value) => void] {
  const [state, setState] = useState({ name, value: readStored(name, initial, isValid) })
  // The name contains the user or the project, which may change while the page stays mounted.
  const value = state.name === name ? state.value : readStored(name, initial, isValid)
  function change(value: Value): void {
    setState({ name, value })
    try {
      localStorage.setItem(name, JSON.stringify(value))
    } catch {
      // The storage is full or blocked: the value lasts as long as the page.
    }
  }
  return [value, change]
}

function readStored<Value>(name: string, initial: Value, isValid: (stored: unknown) => stored is Value): Value {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(name) ?? 'null')
    return isValid(stored) ? stored : initial
  } catch {
    return initial
  }
}
