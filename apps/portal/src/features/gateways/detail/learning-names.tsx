/** The names that a gateway learned, with training now, undo, and their use at another gateway of its site. */
import type { GatewayDetail, GatewayLearning } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { useGateways } from '#api/gateways.ts'
import { placeKey } from '#api/places.ts'
import { LearnedNames } from '@hedgerow/ui/learned-names.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { useGiveNames, useLearnNow, useUndoNames } from './learning-queries.ts'

type Gateway = Pick<GatewayDetail, 'id' | 'location' | 'site'>

type NamesProps = { gateway: Gateway; learning: GatewayLearning; mayManage: boolean }

const OTHERS_MAX = 8

export function Names({ gateway, learning, mayManage }: NamesProps) {
  const train = useLearnNow(gateway.id)
  const undo = useUndoNames(gateway.id)
  const give = useGiveNames(gateway.id)
  const { names, state } = learning
  if (!names) return null
  const isBusy = train.isPending || undo.isPending || give.isPending
  const error = train.error ?? undo.error ?? give.error
  const refused = [train.data, undo.data, give.data].find((command) => command && command.state !== 'done')
  const hasOwn = names.versions.some((version) => version.state === 'active' && version.from === null)
  return (
    <LearnedNames
      names={names}
      isBusy={isBusy}
      isTraining={train.isPending || state === 'running'}
      onTrain={mayManage ? () => train.mutate() : undefined}
      onUndo={mayManage ? (number) => undo.mutate(number) : undefined}
      actions={hasOwn && <UseAt gateway={gateway} isBusy={isBusy} onGive={(other) => give.mutate(other)} />}
    >
      <output>
        {error !== null && <Notice tone="warning">{messageOf(error)}</Notice>}
        {refused !== undefined && <Notice tone="warning">{refused.message}</Notice>}
        {give.data?.state === 'done' && <Notice tone="plain">It uses them now. Undo it on that gateway’s page.</Notice>}
      </output>
    </LearnedNames>
  )
}

/** Numbers travel, and no pictures. */
function UseAt({ gateway, isBusy, onGive }: { gateway: Gateway; isBusy: boolean; onGive: (id: string) => void }) {
  const { data = [] } = useGateways()
  const others = data.filter(
    (one) => one.id !== gateway.id && one.kind === 'enrolled' && placeKey(one) === placeKey(gateway),
  )
  return others.slice(0, OTHERS_MAX).map(({ id, name }) => (
    <Button key={id} variant="default" size="compact-sm" disabled={isBusy} onClick={() => onGive(id)}>
      Use at {name}
    </Button>
  ))
}
