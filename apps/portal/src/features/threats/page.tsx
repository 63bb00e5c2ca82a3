/** Threats: incidents of all sites as pictures, newest first, with their reviews. */
import type { Incident } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { useParameters } from '#parts/parameters.ts'
import { toast } from '@hedgerow/ui/toast.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { bySite } from './by-site.ts'
import { EVERYTHING, readFilter, writeFilter, type Filter } from './filter.ts'
import { ExportButton } from './export-button.tsx'
import { Filters } from './filters.tsx'
import { Lightbox } from './lightbox.tsx'
import type { Marked } from './marked.tsx'
import { useCounts, useIncidents, useNeighbours } from './queries.ts'
import { SavedViews } from './saved-views.tsx'
import { useHeld } from './use-held.ts'
import { useKeys } from './use-keys.ts'
import { useReview, type Verdict, wordsOfUndo } from './use-review.ts'
import { Wall } from './wall.tsx'
import styles from './threats.module.css'

const LIGHTBOX = 'incident'
const NOTHING: ReadonlySet<string> = new Set()

export function ThreatsPage() {
  const [parameters, changeParameters] = useParameters()
  const filter = useMemo(() => readFilter(parameters), [parameters])
  const opened = parameters.get(LIGHTBOX) ?? undefined
  const navigate = useNavigate()
  const isFromWall = (useLocation().state as { isFromWall?: boolean } | null)?.isFromWall === true
  const now = useRef({ opened, isFromWall })
  useLayoutEffect(() => {
    now.current = { opened, isFromWall }
  })
  const inView = useRef(NOTHING)
  const onDrawn = useCallback((drawn: readonly Incident[]) => {
    inView.current = new Set(drawn.map(({ id }) => id))
  }, [])
  // The page of an alert draws a wall for each site.
  const isOfAlert = filter.alert !== ''
  const list = useIncidents(filter, (id) => isOfAlert || inView.current.has(id))
  const counts = useCounts(filter)
  const gateways = useGateways()
  const review = useReview()
  const [current, setCurrent] = useState<string>()
  const [selected, setSelected] = useState(NOTHING)
  const [abreast, setAbreast] = useState(1)
  const [isLabelling, setLabelling] = useState(false)
  const [marked, setMarked] = useState<Marked>()
  const forgetMark = useCallback(() => setMarked(undefined), [])

  const loaded = useMemo(() => withoutTwins(list.data?.pages.flatMap((page) => page.incidents) ?? []), [list.data])
  const { shown, waiting } = useHeld(loaded)
  const sites = useMemo(() => (isOfAlert ? bySite(shown) : undefined), [shown, isOfAlert])
  const incidents = useMemo(() => sites?.flatMap((site) => site.incidents) ?? shown, [sites, shown])
  const zones = useMemo(() => new Map(gateways.data?.map(({ id, timeZone }) => [id, timeZone])), [gateways.data])
  const labels = useMemo(() => [...new Set(counts.data?.groups.map(({ label }) => label))].toSorted(), [counts.data])

  // The wall and the picture above it are two entries of the history, so that Back leads from one to the other.
  const open = useCallback(
    (id: string | undefined) => {
      setLabelling(false)
      if (id === undefined) setMarked(undefined)
      else setCurrent(id)
      const isOpen = now.current.opened !== undefined
      if (id === undefined && now.current.isFromWall) {
        void navigate(-1)
        return
      }
      changeParameters(
        (before) => {
          const next = new URLSearchParams(before)
          if (id === undefined) next.delete(LIGHTBOX)
          else next.set(LIGHTBOX, id)
          return next
        },
        { replace: isOpen, preventScrollReset: true, state: { isFromWall: !isOpen || now.current.isFromWall } },
      )
    },
    [changeParameters, navigate],
  )
  const change = (changed: Partial<Filter>) => {
    setSelected(NOTHING)
    setCurrent(undefined)
    window.scrollTo({ top: 0 })
    changeParameters((before) => writeFilter(before, { ...readFilter(before), ...changed }), {
      replace: true,
      preventScrollReset: true,
    })
  }
  const select = useCallback((id: string, isSelected: boolean) => {
    setSelected((now) => {
      const next = new Set(now)
      if (isSelected) next.add(id)
      else next.delete(id)
      return next
    })
  }, [])

  // Under a filter a review may take the current incident away; the keys then go on where it was.
  const place = useRef(0)
  useEffect(() => {
    const at = incidents.findIndex(({ id }) => id === current)
    if (at >= 0) place.current = at
    else if (current !== undefined && opened === undefined)
      setCurrent(incidents[Math.min(place.current, incidents.length - 1)]?.id)
  }, [incidents, current, opened])

  const isLoaded = list.data === undefined || opened === undefined || incidents.some(({ id }) => id === opened)
  const beyond = useNeighbours(isLoaded ? undefined : opened, filter).data
  const neighbour = (id: string | undefined, step: number): string | undefined => {
    if (id === undefined) return incidents[0]?.id
    const at = incidents.findIndex((incident) => incident.id === id)
    if (at >= 0) return incidents[at + step]?.id
    return (step > 0 ? beyond?.older : beyond?.newer) ?? undefined
  }
  const move = (step: number) => () => {
    const next = neighbour(opened ?? current, step)
    if (!next) return
    if (opened !== undefined) return open(next)
    // Enter then opens this incident, and does not press again what the person clicked before.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    setCurrent(next)
  }
  /** Resolves with whether the next incident opens. */
  const say = async (said: Verdict): Promise<boolean> => {
    const ids = opened !== undefined ? [opened] : selected.size > 0 ? [...selected] : current ? [current] : []
    if (ids.length === 0) return false
    // The incident may leave the list under this filter, so the next one is determined before.
    const next = opened !== undefined ? neighbour(opened, 1) : undefined
    if (!(await review.say(ids, said))) return false
    if (opened !== undefined) {
      setMarked(said.verdict === null ? undefined : { id: opened, said })
      // The person may have closed it, or moved on, before the answer came.
      if (said.verdict !== null && now.current.opened === opened) {
        open(next ?? opened)
        return next !== undefined
      }
    } else if (ids.length > 1)
      void toast(`${ids.length} incidents reviewed.`, { words: 'Undo', onClick: () => void undo() })
    setSelected(NOTHING)
    return false
  }
  // Until the next incident is drawn, a second tap is on the one that is reviewed already.
  const leaving = useRef<string>(undefined)
  useEffect(() => {
    if (leaving.current !== opened) leaving.current = undefined
  }, [opened])
  const sayOnce = async (said: Verdict) => {
    if (leaving.current === opened) return
    leaving.current = opened
    if (!(await say(said))) leaving.current = undefined
  }
  const undo = async () => {
    setMarked(undefined)
    const undone = await review.undo()
    if (undone) void toast(wordsOfUndo(undone))
  }

  /** Back to the incident before, which the tap may not have been meant for. */
  const takeBack = async ({ id }: Marked) => {
    await undo()
    if (now.current.opened !== undefined) open(id)
  }

  useKeys(
    {
      j: move(1),
      k: move(-1),
      ArrowRight: move(1),
      ArrowLeft: move(-1),
      ArrowDown: () => (opened === undefined && current !== undefined ? move(abreast)() : false),
      ArrowUp: () => (opened === undefined && current !== undefined ? move(-abreast)() : false),
      r: () => void say({ verdict: 'right' }),
      w: () => void say({ verdict: 'wrong' }),
      l: () => (opened === undefined && selected.size === 0 && !current ? false : startLabelling()),
      z: () => void undo(),
      x: () => (opened === undefined && current !== undefined ? select(current, !selected.has(current)) : false),
      Enter: () => {
        const isElsewhere = document.activeElement?.closest('button, a') !== null
        if (opened !== undefined || current === undefined || isElsewhere) return false
        open(current)
        return true
      },
    },
    () => opened !== undefined || document.querySelector('[role="dialog"]') === null,
  )
  function startLabelling(): void {
    if (opened === undefined && selected.size === 0 && current !== undefined) open(current)
    setLabelling(true)
  }

  const more = useCallback(() => {
    if (!list.isFetchingNextPage) void list.fetchNextPage()
  }, [list])

  return (
    <>
      <PageHead
        title="Threats"
        lead={
          <>
            What the cameras saw, newest first.
            <span className={styles.keys}>
              <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>x</kbd> selects; <kbd>r</kbd> correct,{' '}
              <kbd>w</kbd> wrong, <kbd>l</kbd> other, <kbd>z</kbd> undo
            </span>
          </>
        }
        actions={
          <>
            <ExportButton filter={filter} />
            <Button component={Link} to="/cameras" variant="default">
              Cameras
            </Button>
            <Button component={Link} to="/alert-rules" variant="default">
              Alert Rules
            </Button>
          </>
        }
      />
      <Filters filter={filter} gateways={gateways.data ?? []} counts={counts.data} onChange={change} />
      <SavedViews filter={filter} onShow={change} />
      {review.failure !== undefined && opened === undefined && <Notice tone="warning">{review.failure}</Notice>}
      {list.data === undefined ? (
        <PanelWaiting query={list} rows={8} label="Loading incidents" />
      ) : incidents.length === 0 ? (
        <NoIncidents
          isFiltered={JSON.stringify(filter) !== JSON.stringify(EVERYTHING)}
          onClear={() => change(EVERYTHING)}
        />
      ) : (
        (sites ?? [undefined]).map((site, index, all) => (
          <section key={site?.name ?? ''} aria-label={site?.name}>
            {site !== undefined && (
              <h2 className={styles.site}>
                {site.name} <span>{list.hasNextPage ? '' : site.words}</span>
              </h2>
            )}
            <Wall
              incidents={site?.incidents ?? incidents}
              zones={zones}
              {...(site !== undefined && { label: `Incidents at ${site.name}` })}
              hasMore={list.hasNextPage && index === all.length - 1}
              onMore={more}
              current={current}
              isCovered={opened !== undefined}
              selected={selected}
              onOpen={open}
              onSelect={select}
              onDrawn={onDrawn}
              onAbreast={setAbreast}
            />
          </section>
        ))
      )}
      {waiting > 0 && (
        <Button className={styles.waiting ?? ''} radius="xl" onClick={() => window.scrollTo({ top: 0 })}>
          {waiting} new
        </Button>
      )}
      {selected.size > 0 && (
        <BulkBar
          count={selected.size}
          labels={labels}
          isBusy={review.isPending}
          isLabelling={isLabelling && opened === undefined}
          onLabelling={setLabelling}
          onSay={(said) => void say(said)}
          onClear={() => setSelected(NOTHING)}
        />
      )}
      {opened !== undefined && (
        <Lightbox
          id={opened}
          labels={labels}
          onPrevious={neighbour(opened, -1) === undefined ? undefined : move(-1)}
          onNext={neighbour(opened, 1) === undefined ? undefined : move(1)}
          onSay={(said) => void sayOnce(said)}
          onClosed={() => open(undefined)}
          isLabelling={isLabelling}
          onLabelling={setLabelling}
          failure={review.failure}
          marked={marked}
          onUndo={() => marked && void takeBack(marked)}
          onMarkGone={forgetMark}
        />
      )}
    </>
  )
}

/** An incident whose beginning moved is in two pages until both are read again. */
function withoutTwins(incidents: readonly Incident[]): Incident[] {
  const seen = new Set<string>()
  return incidents.filter(({ id }) => !seen.has(id) && seen.add(id))
}

function NoIncidents({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered)
    return (
      <PanelEmpty title="Nothing seen yet">
        Pictures appear here as soon as a camera of a gateway sees something.
      </PanelEmpty>
    )
  return (
    <PanelEmpty title="Nothing matches">
      <Button size="sm" variant="default" onClick={onClear}>
        Clear filters
      </Button>
    </PanelEmpty>
  )
}
