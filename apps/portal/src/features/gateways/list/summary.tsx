import type { Gateway } from '@hedgerow/contract'
import { memo } from 'react'
import { FigureStrip } from '@hedgerow/ui/figure-strip.tsx'

/** The fleet by status; undefined while it is unknown. */
export const Summary = memo(function Summary({ gateways, loading }: SummaryProps) {
  const count = (status: Gateway['status']) => gateways?.filter((gateway) => gateway.status === status).length ?? null
  return (
    <FigureStrip
      label="Gateways by status"
      loading={loading}
      figures={[
        { label: 'Total', value: gateways?.length ?? null },
        { label: 'Online', value: count('online') },
        { label: 'Offline', value: count('offline') },
        { label: 'Warnings', value: count('warning'), tone: 'warning' },
      ]}
    />
  )
})

type SummaryProps = { gateways: readonly Gateway[] | undefined; loading: boolean }
