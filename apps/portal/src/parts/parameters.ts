import { useCallback } from 'react'
import { type NavigateOptions, useSearchParams } from 'react-router'

type Change = (now: URLSearchParams) => URLSearchParams

/**
 * The parameters of the address. A change starts from the address as it is: React Router's own starts from what was
 * drawn last, and would take back a change that a busy page has not drawn yet.
 */
export function useParameters(): [URLSearchParams, (change: Change, options?: NavigateOptions) => void] {
  const [drawn, setParameters] = useSearchParams()
  const changeParameters = useCallback(
    (change: Change, options?: NavigateOptions) =>
      setParameters(change(new URLSearchParams(window.location.search)), options),
    [setParameters],
  )
  return [drawn, changeParameters]
}
