import type { Gateway } from '@hedgerow/contract'
import { memo } from 'react'
import { FigureStrip } from '@hedgerow/ui/figure-strip.tsx'
import type { StatusFilter } from '../view.ts'
import { DENSE_FROM } from './table.tsx'

/** The fleet by status, the worst first; undefined while it is unknown. Each figure shows its gateways. */
export const Summary = memo(function Summary({ gateways, loading, status, onStatus }: SummaryProps) {
  const count = (status: Gateway['status']) => gateways?.filter((gateway) => gateway.status === status).length ?? null
  const toggle = (wanted: StatusFilter, name: string) => ({
    name,
    on: status === wanted && wanted !== 'any',
    onPress: () => onStatus(status === wanted ? 'any' : wanted),
  })
  return (
    <FigureStrip
      label="Gateways by status"
      loading={loading}
      low={(gateways?.length ?? 0) >= DENSE_FROM}
      figures={[
        {
          label: 'Offline',
          value: count('offline'),
          tone: 'danger',
          toggle: toggle('offline', 'Show offline gateways'),
        },
        {
          label: 'Warnings',
          value: count('warning'),
          tone: 'warning',
          toggle: toggle('warning', 'Show gateways with a warning'),
        },
        { label: 'Online', value: count('online'), toggle: toggle('online', 'Show online gateways') },
        { label: 'Total', value: gateways?.length ?? null, toggle: toggle('any', 'Show all gateways') },
      ]}
    />
  )
})

type SummaryProps = {
  gateways: readonly Gateway[] | undefined
  loading: boolean
  status: StatusFilter
  onStatus: (status: StatusFilter) => void
}
