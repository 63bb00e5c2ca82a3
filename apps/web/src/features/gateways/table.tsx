/**
 * The fleet as a table. A long list draws only the rows in view; the rest is the height of two empty rows, so that
 * the page scrolls as if all were there.
 */
import type { Gateway } from '@hedgerow/contract'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import { DataTable, Gap, type Column } from '#ui/data-table.tsx'
import { GatewayRow } from './row.tsx'

/** Below this many rows drawing all of them is faster, and the browser's own search finds them. */
const VIRTUAL_FROM = 120
const ROW_HEIGHT = 45

const COLUMNS: readonly Column[] = [
  { name: 'Status', width: '21%' },
  { name: 'Gateway Name' },
  { name: 'Location' },
  { name: 'IP Address', width: '130px' },
  { name: 'Version', width: '86px' },
  { name: 'Last Seen', width: '96px' },
  { name: 'Connected Users', width: '132px', numeric: true },
  { name: 'Actions', width: '134px' },
]

type GatewayTableProps = {
  gateways: readonly Gateway[]
  mayManage: boolean
  onConnect: (gateway: Gateway) => void
  onVpnConfig: (gateway: Gateway) => void
}

export function GatewayTable({ gateways, ...row }: GatewayTableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  const virtual = gateways.length >= VIRTUAL_FROM
  useLayoutEffect(() => {
    setTop(Math.round((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY))
  }, [virtual])

  const virtualizer = useWindowVirtualizer({
    count: gateways.length,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => gateways[index]?.id ?? index,
    overscan: 12,
    scrollMargin: top,
    enabled: virtual,
  })
  const drawn = virtual ? virtualizer.getVirtualItems() : []
  const last = drawn.at(-1)

  return (
    <DataTable label="Gateways" columns={COLUMNS} rowCount={gateways.length} bodyRef={body}>
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
}
