import { Button } from '@mantine/core'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from './calls.ts'
import { useOrder, useStatus, type Order } from './queries.ts'
import { useVisitor } from './session.ts'

/**
 * In the bar of every screen: one press switches everything off and disarms. Everybody may do that; only managers arm.
 */
export function Arming() {
  const { mayManage } = useVisitor()
  const { armed = true, disarmed, snoozes } = useStatus().data ?? {}
  const isSnoozed = disarmed === undefined && snoozes?.some(({ camera }) => camera === null) === true
  const { mutate, isPending } = useOrder()
  const order = (order: Order, done: string) =>
    mutate(order, {
      onSuccess: () => void toast(done),
      onError: (error) => void toast(`Failed: ${messageOf(error)}`),
    })
  if (armed)
    return (
      <>
        <Button
          variant="default"
          disabled={isPending}
          onClick={() => order({ action: 'disarm', lasts: '1h' }, 'Everything is off, armed again in an hour.')}
        >
          Pause 1 h
        </Button>
        <Button
          color="red"
          loading={isPending}
          onClick={() => order({ action: 'disarm' }, 'Everything is off and stays off.')}
        >
          Stop everything
        </Button>
      </>
    )
  if (isSnoozed && !mayManage) return <StatusMark shape="ring" word="Snoozed" />
  if (!mayManage) return <StatusMark shape="ring" word="Disarmed" />
  return (
    <Button
      variant="default"
      loading={isPending}
      onClick={() => order({ action: 'arm' }, 'Armed: rules may fire again.')}
    >
      Arm
    </Button>
  )
}
