import { useCallback, useState } from 'react'

/** What the person opened and closed, as long as the portal is loaded: back from a gateway, the list is as before. */
let kept: ReadonlyMap<string, boolean> = new Map()

/** The sites that the person folded (true) or opened (false). `fold` is stable. */
export function useFolds() {
  const [folds, setFolds] = useState(kept)
  const fold = useCallback((site: string, isFolded: boolean) => {
    kept = new Map(kept).set(site, isFolded)
    setFolds(kept)
  }, [])
  return { folds, fold }
}
