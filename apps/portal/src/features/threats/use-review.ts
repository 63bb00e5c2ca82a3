import type { Incident, ReviewVerdict } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { reviewIncidents } from 'virtual:contract-calls'
import { api, messageOf } from '#api/client.ts'
import { refetchThreats } from './queries.ts'

export type Said = { verdict: ReviewVerdict | null; label?: string | undefined }

/** How many reviews can be undone. */
const UNDO_DEPTH = 50

/** Reviews incidents, and undoes the last reviews; each step is one call, all or none. */
export function useReview() {
  const queries = useQueryClient()
  const undone = useRef<{ id: string; verdict: ReviewVerdict | null; label: string | null }[][]>([])
  /** Settles with the review that the hub has not answered yet. */
  const saying = useRef<Promise<unknown>>(Promise.resolve())
  const [canUndo, setCanUndo] = useState(false)
  const { mutateAsync, error, isPending } = useMutation({
    mutationFn: (body: { ids: string[] } & Said) => api(reviewIncidents, { body }),
  })

  async function say(ids: string[], said: Said): Promise<boolean> {
    const answer = mutateAsync({ ids, verdict: said.verdict, ...(said.label && { label: said.label }) }).catch(
      () => undefined,
    )
    saying.current = answer
    const before = await answer
    if (before === undefined) return false
    undone.current = [...undone.current, before].slice(-UNDO_DEPTH)
    setCanUndo(true)
    await refetchThreats(queries, ids)
    return true
  }

  /** Undoes the last review, once the hub has answered it. Returns how many incidents it was about. */
  async function undo(): Promise<number> {
    await saying.current
    const last = undone.current.pop()
    setCanUndo(undone.current.length > 0)
    if (!last) return 0
    for (const { verdict, label, ids } of alike(last))
      await mutateAsync({ ids, verdict, ...(label !== null && { label }) }).catch(() => undefined)
    await refetchThreats(
      queries,
      last.map(({ id }) => id),
    )
    return last.length
  }

  return { say, undo, canUndo, isPending, failure: error ? messageOf(error) : undefined }
}

/** Groups reviews by verdict and label: one call for each group. */
function alike(said: readonly { id: string; verdict: ReviewVerdict | null; label: string | null }[]) {
  const groups = Map.groupBy(said, ({ verdict, label }) => JSON.stringify([verdict, label]))
  return [...groups.values()].map((group) => ({
    verdict: group[0]!.verdict,
    label: group[0]!.label,
    ids: group.map(({ id }) => id),
  }))
}

/** The verdict in a word: of people, of the gateway, or none yet. */
export function reviewWords({ review, label, reportedLabel }: Incident): string | undefined {
  if (review === null) return undefined
  if (review.verdict === 'right') return 'Right'
  return label === reportedLabel ? 'False alarm' : `${reportedLabel} was wrong`
}
