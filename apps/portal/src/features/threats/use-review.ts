import type { Incident, ReviewVerdict } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { reviewIncidents, undoReviews } from 'virtual:contract-calls'
import { api, ApiError, messageOf } from '#api/client.ts'
import { refetchThreats } from './queries.ts'

export type Verdict = { verdict: ReviewVerdict | null; label?: string | undefined }

/** How many reviews can be undone. */
const UNDO_DEPTH = 50

/** Reviews incidents, and undoes the last reviews; each step is one call, all or none. */
export function useReview() {
  const queries = useQueryClient()
  /** The reviews of each step that can be undone. */
  const steps = useRef<string[][]>([])
  /** Settles with the review that the hub has not answered yet. */
  const saying = useRef<Promise<unknown>>(Promise.resolve())
  const [canUndo, setCanUndo] = useState(false)
  const review = useMutation({ mutationFn: (body: { ids: string[] } & Verdict) => api(reviewIncidents, { body }) })
  const undoing = useMutation({ mutationFn: (reviewIds: string[]) => api(undoReviews, { body: { reviewIds } }) })
  const keep = (next: string[][]) => {
    steps.current = next.slice(-UNDO_DEPTH)
    setCanUndo(next.length > 0)
  }

  async function say(ids: string[], decision: Verdict): Promise<boolean> {
    undoing.reset()
    const answer = review
      .mutateAsync({ ids, verdict: decision.verdict, ...(decision.label && { label: decision.label }) })
      .catch(() => undefined)
    saying.current = answer
    const before = await answer
    if (before === undefined) return false
    keep([...steps.current, before.map(({ reviewId }) => reviewId)])
    await refetchThreats(queries, ids)
    return true
  }

  /**
   * Undoes the last review, once the hub has answered it. Returns how many incidents it was about, and how many of them
   * stay because somebody reviewed them again; undefined when there is nothing to undo, or the hub did not do it.
   */
  async function undo(): Promise<{ total: number; unchanged: number } | undefined> {
    await saying.current
    const last = steps.current.at(-1)
    if (!last) return undefined
    keep(steps.current.slice(0, -1))
    review.reset()
    const done = await undoing.mutateAsync(last).catch((error: unknown) => {
      // Without an answer it can be tried again.
      if (!(error instanceof ApiError && error.code === 'review_not_found')) keep([...steps.current, last])
    })
    if (!done) return undefined
    await refetchThreats(queries, done.incidentIds)
    return { total: last.length, unchanged: last.length - done.incidentIds.length }
  }

  const error = undoing.error ?? review.error
  const isPending = review.isPending || undoing.isPending
  return { say, undo, canUndo, isPending, failure: error ? messageOf(error) : undefined }
}

/** What `undo` did, for people. */
export function wordsOfUndo({ total, unchanged }: { total: number; unchanged: number }): string {
  const undone = total - unchanged
  const done = undone === 1 ? 'One review undone' : `${undone} reviews undone`
  if (unchanged === 0) return done
  if (total === 1) return 'Somebody reviewed it again since, so it stays as it is.'
  return (
    `${done}. Somebody reviewed ${unchanged === 1 ? 'one' : unchanged} again since: ` +
    `${unchanged === 1 ? 'it stays' : 'they stay'}.`
  )
}

/** The verdict in a word: of people, of the gateway, or none yet. */
export function reviewWords({ review, label, reportedLabel }: Incident): string | undefined {
  if (review === null) return undefined
  if (review.verdict === 'right') return 'Correct'
  return label === reportedLabel ? 'Wrong' : `${reportedLabel} was wrong`
}
