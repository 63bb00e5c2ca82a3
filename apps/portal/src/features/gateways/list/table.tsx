/**
 * The fleet as a table, or as cards on request and in a narrow window. A long list draws only the rows in view; the
 * rest is the height of two empty rows, so that the page scrolls as if all were there.
 */
import type { Camera, Gateway } from '@hedgerow/contract'
import { useMediaQuery } from '@mantine/hooks'
import { useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useCameras } from '#api/cameras.ts'
import { DataTable, Gap, GroupRow, type Column } from '@hedgerow/ui/data-table.tsx'
import type { GatewayVerb } from '../dialogs/dialogs.tsx'
import { numberOfGateways } from '../messages.ts'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { protectionTone } from '@hedgerow/contract/protection'
import { useFolds } from './folds.ts'
import { GatewayRow } from './row.tsx'
import styles from '../page.module.css'
import { isFoldedAtFirst, type Site, type SortKey, type View } from '../view.ts'

/** In a smaller fleet drawing all rows is faster, and the browser's own search finds them. */
const VIRTUAL_FROM = 120
/** In a smaller fleet there is room for rows of two lines. */
export const DENSE_FROM = 20
/** For a wide window: cards in a row, and the height of a row with the space below it, as in data-table.module.css. */
const CARDS_ABREAST = 3
const CARDS_HEIGHT = 416
/** The heights of the rows when the list was left: back from a gateway, the same place shows the same rows. */
let left: { shape: string; items: VirtualItem[] } | undefined

const SELECT_ALL = 'Select all gateways'

const COLUMNS: readonly (Column & { sort?: SortKey })[] = [
  { name: 'Select', width: '44px' },
  // The name beside it keeps its end in a window of 1,100 px, and long reasons get room where there is some.
  { name: 'Status', width: 'clamp(190px, 70vw - 640px, 25vw)', sort: 'status' },
  { name: 'Gateway Name', sort: 'name' },
  { name: 'Location', width: '12%', sort: 'location' },
  { name: 'IP Address', width: 'clamp(130px, 11.5vw, 146px)', sort: 'address' },
  { name: 'Version', width: '86px', sort: 'version' },
  { name: 'Last Seen', width: '96px', sort: 'seen' },
  { name: 'Connected Users', width: '140px', numeric: true, sort: 'users' },
  { name: 'Actions', width: '134px' },
]

type GatewayTableProps = {
  gateways: readonly Gateway[]
  /** The number of all gateways; `gateways` may be only the search's matches. */
  fleetSize: number
  /** The same gateways by site; undefined for a list without sites. */
  sites: readonly Site[] | undefined
  isFiltered: boolean
  mayManage: boolean
  selection: ReadonlySet<string>
  onSelect: (id: string, selected: boolean) => void
  onSelectOnly: (ids: readonly string[]) => void
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
  view: View
  onSort: (sort: SortKey) => void
}

/** Drawn again only for other rows or another order, never for a key in the search field. */
export const GatewayTable = memo(function GatewayTable({
  gateways,
  fleetSize,
  sites,
  isFiltered,
  view,
  onSort,
  selection,
  onSelectOnly,
  ...row
}: GatewayTableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  // Decided by the fleet, not by the matches: a search with a hundred matches would draw them all at one key press.
  const virtual = fleetSize >= VIRTUAL_FROM
  const dense = fleetSize >= DENSE_FROM
  const { narrow, rowHeight } = useWidth(dense)
  const cards = view.layout === 'cards' && !narrow
  const abreast = cards ? CARDS_ABREAST : 1
  useLayoutEffect(() => {
    setTop(Math.round((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY))
  }, [virtual, narrow, cards])

  const { folds, fold } = useFolds()
  const rows = useMemo(() => {
    if (sites === undefined || cards) return gateways
    return sites.flatMap((site) => {
      const isFolded = !isFiltered && (folds.get(site.key) ?? isFoldedAtFirst(site, fleetSize))
      return [{ site, isFolded }, ...(isFolded ? [] : site.gateways)]
    })
  }, [gateways, sites, cards, folds, fleetSize, isFiltered])

  // With another function at each render, the virtualizer would place all rows of the fleet again at each frame.
  const keyOf = useCallback(
    (index: number) => {
      const row = rows[index * abreast]
      return row === undefined ? index : 'isFolded' in row ? `site ${row.site.key}` : row.id
    },
    [rows, abreast],
  )
  // Measured heights of rows are wrong for cards, and in a window of another width.
  const shape = `${narrow ? 'narrow' : view.layout} ${window.innerWidth}`
  const virtualizer = useWindowVirtualizer({
    initialMeasurementsCache: left?.shape === shape ? left.items : [],
    count: Math.ceil(rows.length / abreast),
    estimateSize: () => (cards ? CARDS_HEIGHT : rowHeight),
    getItemKey: keyOf,
    overscan: 6,
    scrollMargin: top,
    enabled: virtual,
    // The rows of the overscan are in view first, so new ones need not be in the same frame as the turn of the wheel.
    useFlushSync: false,
  })
  const measuredShape = useRef(shape)
  useEffect(() => {
    if (measuredShape.current === shape) return
    measuredShape.current = shape
    virtualizer.measure()
  }, [virtualizer, shape])
  useEffect(
    () => () => {
      left = { shape: measuredShape.current, items: virtualizer.takeSnapshot() }
    },
    [virtualizer],
  )
  const drawn = virtual ? virtualizer.getVirtualItems() : []
  const last = drawn.at(-1)
  const first = virtual ? (drawn[0]?.index ?? 0) * abreast : 0
  const inView = virtual ? rows.slice(first, ((last?.index ?? -1) + 1) * abreast) : rows

  const { data: allCameras } = useCameras({ enabled: cards })
  const cameras = useMemo(() => firstCameras(allCameras ?? []), [allCameras])
  const shows = (id: string) => (cards ? (cameras.get(id) ?? (allCameras ? 'none' : 'loading')) : undefined)

  const allSelected = gateways.every(({ id }) => selection.has(id))
  const tickAll = useMemo(
    () => ({
      checked: allSelected,
      onChange: (wanted: boolean) => onSelectOnly(wanted ? gateways.map(({ id }) => id) : []),
    }),
    [allSelected, gateways, onSelectOnly],
  )
  // Cards and narrow rows have no column heads.
  const hasHead = !narrow && !cards
  const { sort: by, descending } = view
  const columns = useMemo(
    () =>
      COLUMNS.map(({ sort, ...column }) => {
        if (column.name === 'Select')
          return hasHead ? { ...column, head: <TickBox label={SELECT_ALL} {...tickAll} /> } : column
        if (sort === undefined) return column
        const order = by !== sort ? 'none' : descending ? 'descending' : 'ascending'
        return { ...column, order, onSort: () => onSort(sort) } as const
      }),
    [hasHead, tickAll, by, descending, onSort],
  )

  return (
    <>
      {!hasHead && (
        <div className={styles.selectAll}>
          <TickBox {...tickAll}>{SELECT_ALL}</TickBox>
        </div>
      )}
      <DataTable
        label="Gateways"
        columns={columns}
        rowCount={rows.length}
        dense={dense}
        bodyRef={body}
        cards={cards}
        narrow="lines"
      >
        <Gap height={(drawn[0]?.start ?? top) - top} />
        {inView.map((one, index) =>
          'isFolded' in one ? (
            <SiteRow
              key={`site ${one.site.key}`}
              {...one}
              index={first + index}
              measure={virtual ? virtualizer.measureElement : undefined}
              selection={selection}
              onSelect={row.onSelect}
              onFold={isFiltered ? undefined : fold}
            />
          ) : (
            <GatewayRow
              key={one.id}
              {...row}
              gateway={one}
              camera={shows(one.id)}
              // A row of one line has no room for both.
              ifWell={dense && !narrow && !cards ? 'status' : 'protection'}
              selected={selection.has(one.id)}
              index={first + index}
              // Cards in a wide window have one height.
              measure={virtual && !cards ? virtualizer.measureElement : undefined}
            />
          ),
        )}
        <Gap height={virtual ? virtualizer.getTotalSize() - ((last?.end ?? top) - top) : 0} />
      </DataTable>
    </>
  )
})

type SiteRowProps = {
  site: Site
  isFolded: boolean
  index: number
  measure: ((node: HTMLTableRowElement | null) => void) | undefined
  selection: ReadonlySet<string>
  onSelect: (id: string, selected: boolean) => void
  /** Undefined under a search or a filter, which show what they find. */
  onFold: ((site: string, isFolded: boolean) => void) | undefined
}

/** A site above its gateways: how many they are, and how many of them are not well. */
function SiteRow({ site, isFolded, index, measure, selection, onSelect, onFold }: SiteRowProps) {
  const { key, name, gateways, lacking, warnings } = site
  const words = name === '' ? 'Without a location' : name
  return (
    <GroupRow
      ref={measure}
      index={index}
      columns={COLUMNS.length}
      before={
        <TickBox
          label={`All of ${words}`}
          checked={gateways.every(({ id }) => selection.has(id))}
          onChange={(wanted) => gateways.forEach(({ id }) => onSelect(id, wanted))}
        />
      }
      name={words}
      isFolded={isFolded}
      onFold={onFold && (() => onFold(key, !isFolded))}
    >
      <span>{numberOfGateways(gateways.length)}</span>
      {lacking.map(([state, count]) => (
        <Chip key={state} tone={protectionTone(state)}>
          {`${count} ${state}`}
        </Chip>
      ))}
      {warnings > 0 && <Chip tone="warning">{`${warnings} with a warning`}</Chip>}
    </GroupRow>
  )
}

const AT_ONCE = { getInitialValueInEffect: false }

/** The approximate height of a row by the width of the window, as in data-table.module.css. */
function useWidth(dense: boolean): { narrow: boolean; rowHeight: number } {
  const phone = useMediaQuery('(width < 720px)', false, AT_ONCE)
  const narrow = useMediaQuery('(width < 1100px)', false, AT_ONCE)
  const middle = useMediaQuery('(width < 1400px)', false, AT_ONCE)
  return { narrow, rowHeight: phone ? 59 : narrow ? 55 : dense ? 29 : middle ? 63.5 : 45 }
}

/** The first camera of each gateway that is online, else its first one. */
function firstCameras(cameras: readonly Camera[]): ReadonlyMap<string, Camera> {
  const first = new Map<string, Camera>()
  for (const camera of cameras) {
    const previous = first.get(camera.gatewayId)
    if (!previous || (previous.state !== 'online' && camera.state === 'online')) first.set(camera.gatewayId, camera)
  }
  return first
}
