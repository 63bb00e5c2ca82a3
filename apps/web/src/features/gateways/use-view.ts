import { useEffect, useRef, useState, type Dispatch, type SetStateAction } from 'react'
import { useSearchParams } from 'react-router'
import { readView, writeView, type View } from './view.ts'

const SETTLED_MS = 250

/** The view of the address. Typing shows at once and reaches the address when it pauses, without a history entry. */
export function useView(): [View, Dispatch<SetStateAction<View>>] {
  const [parameters, setParameters] = useSearchParams()
  const [view, setView] = useState(() => readView(parameters))
  const written = useRef(parameters.toString())
  const address = parameters.toString()

  // Back, Forward and links change the address under the page.
  useEffect(() => {
    if (address === written.current) return
    written.current = address
    setView(readView(new URLSearchParams(address)))
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

  return [view, setView]
}
