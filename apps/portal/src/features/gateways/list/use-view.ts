import { useCallback, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { readView, sortBy, writeView, type SortKey, type View } from '../view.ts'

const SETTLED_MS = 250

type FleetView = {
  view: View
  changeView: (change: Partial<View>) => void
  /** Changes when the address or `changeView` changes the search. */
  revision: number
  /** For typing in the search field. */
  search: (text: string) => void
  /** For a click on a column head. */
  orderBy: (sort: SortKey) => void
}

/**
 * The view in the address. A change shows at once and is written to the address after a pause, without a history entry.
 */
export function useView(): FleetView {
  const [parameters, setParameters] = useSearchParams()
  const [view, setView] = useState(() => readView(parameters))
  const [revision, setRevision] = useState(0)
  const written = useRef(parameters.toString())
  const address = parameters.toString()

  // Back, Forward and links change the address under the page.
  useEffect(() => {
    if (address === written.current) return
    written.current = address
    setView(readView(new URLSearchParams(address)))
    setRevision((before) => before + 1)
  }, [address])

  useEffect(() => {
    const timer = setTimeout(() => {
      const next = writeView(new URLSearchParams(address), view)
      if (next.toString() === address) return
      written.current = next.toString()
      setParameters(next, { replace: true, preventScrollReset: true })
    }, SETTLED_MS)
    return () => clearTimeout(timer)
  }, [view, address, setParameters])

  const changeView = useCallback((change: Partial<View>) => {
    setView((now) => ({ ...now, ...change }))
    if (change.search !== undefined) setRevision((before) => before + 1)
  }, [])
  const search = useCallback((text: string) => setView((now) => ({ ...now, search: text })), [])
  const orderBy = useCallback((sort: SortKey) => setView((now) => sortBy(now, sort)), [])
  return { view, changeView, revision, search, orderBy }
}
