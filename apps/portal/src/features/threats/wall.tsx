/**
 * Incidents as a wall of pictures. Only the rows in view are drawn, so that a million incidents scroll like sixty; all
 * rows have one height, so nothing jumps when pictures or older pages arrive.
 */
import type { Incident } from '@hedgerow/contract'
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { thumbnailQuery } from '#api/thumbnail.ts'
import { Card } from './card.tsx'
import styles from './threats.module.css'

const CARD_WIDTH = 236
const GAP = 14
/** Caption below the picture: a narrow one has a line more. */
const CAPTION_HEIGHT = 84
const NARROW_CAPTION_HEIGHT = 104
const OVERSCAN_ROWS = 2
/** The top bar with the filters, and the bar of a selection: the keys move to rows between them. */
const STICKY_ABOVE = 150
const STICKY_BELOW = 80
/** The pictures of at least so many rows below are read before these are drawn, those of several rows by one call. */
const ROWS_AHEAD = 3
const ROWS_OF_A_CALL = 6

type WallProps = {
  incidents: readonly Incident[]
  /** The time zones of gateways. */
  zones: ReadonlyMap<string, string | null>
  label?: string
  hasMore: boolean
  onMore: () => void
  /** The incident with the keyboard focus. */
  current: string | undefined
  /** Whether a picture is open above the wall. */
  isCovered: boolean
  selected: ReadonlySet<string>
  onOpen: (id: string) => void
  onSelect: (id: string, selected: boolean) => void
  /** Called with the incidents in view, and some beyond. */
  onDrawn: (drawn: readonly Incident[]) => void
  /** Called with the number of incidents in a row, for the keys that move up and down. */
  onAbreast: (abreast: number) => void
}

export function Wall({
  incidents,
  zones,
  label = 'Incidents',
  hasMore,
  onMore,
  current,
  isCovered,
  selected,
  onOpen,
  onSelect,
  onDrawn,
  onAbreast,
}: WallProps) {
  const { ref, width } = useElementSize<HTMLUListElement>()
  const list = useRef<HTMLUListElement>(null)
  const listRef = useMergedRef(ref, list)
  const [top, setTop] = useState(0)
  const measure = useCallback(
    () => setTop(Math.round((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY)),
    [],
  )
  useLayoutEffect(measure, [measure, width])
  // Another wall above it may grow.
  useEffect(() => {
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [measure])
  const abreast = Math.max(width < 480 ? 2 : 1, Math.floor((width + GAP) / (CARD_WIDTH + GAP)))
  const cardWidth = (width - GAP * (abreast - 1)) / abreast
  const captionHeight = cardWidth < CARD_WIDTH ? NARROW_CAPTION_HEIGHT : CAPTION_HEIGHT
  const rowHeight = Math.round((cardWidth * 9) / 16) + captionHeight + GAP
  const rows = Math.ceil(incidents.length / abreast)
  const virtualizer = useWindowVirtualizer({
    count: rows,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN_ROWS,
    scrollMargin: top,
    scrollPaddingStart: STICKY_ABOVE,
    scrollPaddingEnd: STICKY_BELOW,
    enabled: width > 0,
    // The rows of the overscan are in view first, so new ones need not be in the same frame as the turn of the wheel.
    useFlushSync: false,
  })
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight])
  useEffect(() => onAbreast(abreast), [onAbreast, abreast])

  const drawnRows = virtualizer.getVirtualItems()
  const first = (drawnRows[0]?.index ?? 0) * abreast
  const end = ((drawnRows.at(-1)?.index ?? -1) + 1) * abreast
  const drawn = useMemo(() => incidents.slice(first, end), [incidents, first, end])
  useEffect(() => onDrawn(drawn), [onDrawn, drawn])
  const queries = useQueryClient()
  const wanted = Math.ceil((end / abreast + ROWS_AHEAD) / ROWS_OF_A_CALL) * ROWS_OF_A_CALL * abreast
  const readAhead = useEffectEvent((to: number) => {
    for (const { gatewayId, coverId } of incidents.slice(end, to))
      if (coverId !== null) void queries.prefetchQuery(thumbnailQuery(gatewayId, coverId))
  })
  useEffect(() => readAhead(wanted), [wanted, incidents.length])
  useEffect(() => {
    if (hasMore && end >= incidents.length - abreast * 6) onMore()
  }, [hasMore, onMore, end, incidents.length, abreast])

  // Scrolls for the keyboard, and to where a person left the open pictures, but not for new incidents above.
  const follow = useEffectEvent((id: typeof current) => {
    const row = incidents.findIndex((incident) => incident.id === id)
    if (row >= 0) virtualizer.scrollToIndex(Math.floor(row / abreast), { align: 'auto' })
  })
  useEffect(() => follow(current), [current, isCovered])

  return (
    <ul ref={listRef} className={styles.wall} aria-label={label} style={{ height: virtualizer.getTotalSize() }}>
      {drawn.map((incident, index) => (
        <Card
          key={incident.id}
          incident={incident}
          timeZone={zones.get(incident.gatewayId) ?? null}
          index={first + index}
          left={((first + index) % abreast) * (cardWidth + GAP)}
          top={Math.floor((first + index) / abreast) * rowHeight}
          width={cardWidth}
          height={rowHeight - GAP}
          isCurrent={incident.id === current}
          isSelected={selected.has(incident.id)}
          onOpen={onOpen}
          onSelect={onSelect}
        />
      ))}
    </ul>
  )
}
