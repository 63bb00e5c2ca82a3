/**
 * The fleet as a table. A long list draws only the rows in view; the rest is the height of two empty rows, so that
 * the page scrolls as if all were there.
 */
import type { Gateway } from '@hedgerow/contract'
import { useMediaQuery } from '@mantine/hooks'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { DataTable, Gap, type Column } from '#ui/data-table.tsx'
import type { GatewayVerb } from './dialogs.tsx'
import { GatewayRow } from './row.tsx'
import type { SortKey, View } from './view.ts'

/** In a smaller fleet drawing all rows is faster, and the browser's own search finds them. */
const VIRTUAL_FROM = 120
const ROW_HEIGHT = 44
/** About that of a card, which each row is in a window as narrow as data-table.module.css says. */
const CARD_HEIGHT = 310
const NARROW = '(width < 1100px)'

const COLUMNS: readonly (Column & { sort?: SortKey })[] = [
  { name: 'Status', width: '25%', sort: 'status' },
  { name: 'Gateway Name', sort: 'name' },
  { name: 'Location', sort: 'location' },
  { name: 'IP Address', width: '130px', sort: 'address' },
  { name: 'Version', width: '86px', sort: 'version' },
  { name: 'Last Seen', width: '96px', sort: 'seen' },
  { name: 'Connected Users', width: '140px', numeric: true, sort: 'users' },
  { name: 'Actions', width: '134px' },
]

type GatewayTableProps = {
  gateways: readonly Gateway[]
  /** How many there are in all, of which `gateways` may be those that were searched for. */
  fleetSize: number
  mayManage: boolean
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
  view: View
  onSort: (sort: SortKey) => void
}

/** Drawn again only for other rows or another order, never for a key in the search field. */
export const GatewayTable = memo(function GatewayTable({
  gateways,
  fleetSize,
  view,
  onSort,
  ...row
}: GatewayTableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  // Not by what was found: a search that ends with a hundred rows would draw them all at one key.
  const virtual = fleetSize >= VIRTUAL_FROM
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false })
  useLayoutEffect(() => {
    setTop(Math.round((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY))
  }, [virtual, narrow])

  const virtualizer = useWindowVirtualizer({
    count: gateways.length,
    estimateSize: () => (narrow ? CARD_HEIGHT : ROW_HEIGHT),
    getItemKey: (index) => gateways[index]?.id ?? index,
    overscan: 6,
    scrollMargin: top,
    enabled: virtual,
  })
  // What was measured of rows says nothing of cards.
  const measuredNarrow = useRef(narrow)
  useEffect(() => {
    if (measuredNarrow.current === narrow) return
    measuredNarrow.current = narrow
    virtualizer.measure()
  }, [virtualizer, narrow])
  const drawn = virtual ? virtualizer.getVirtualItems() : []
  const last = drawn.at(-1)

  const columns = COLUMNS.map(({ sort, ...column }) => {
    if (sort === undefined) return column
    const order = view.sort !== sort ? 'none' : view.descending ? 'descending' : 'ascending'
    return { ...column, order, onSort: () => onSort(sort) } as const
  })

  return (
    <DataTable label="Gateways" columns={columns} rowCount={gateways.length} bodyRef={body}>
      <Gap height={(drawn[0]?.start ?? top) - top} />
      {virtual
        ? drawn.map(({ index }) => {
            const gateway = gateways[index]
            return (
              gateway && (
                <GatewayRow
                  key={gateway.id}
                  {...row}
                  gateway={gateway}
                  index={index}
                  measure={virtualizer.measureElement}
                />
              )
            )
          })
        : gateways.map((gateway, index) => (
            <GatewayRow key={gateway.id} {...row} gateway={gateway} index={index} measure={undefined} />
          ))}
      <Gap height={last === undefined ? 0 : virtualizer.getTotalSize() - (last.end - top)} />
    </DataTable>
  )
})
