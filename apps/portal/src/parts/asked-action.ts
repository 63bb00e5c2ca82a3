import { useEffect, useRef } from 'react'
import { useParameters } from './parameters.ts'

/**
 * Calls `onAction` with the action in the address (`?do=add`), if it is one of `actions`. The action is then removed
 * from the address, so that a reload does not repeat it.
 */
export function useAskedAction<Action extends string>(
  actions: readonly Action[],
  onAction: (action: Action) => void,
): void {
  const [parameters, changeParameters] = useParameters()
  const latest = useRef({ actions, onAction })
  useEffect(() => {
    latest.current = { actions, onAction }
  })
  const requested = parameters.get('do')
  useEffect(() => {
    if (requested === null) return
    changeParameters(
      (current) => {
        current.delete('do')
        return current
      },
      { replace: true },
    )
    const action = latest.current.actions.find((name) => name === requested)
    if (action !== undefined) latest.current.onAction(action)
  }, [requested, changeParameters])
}
