import { Button } from '@mantine/core'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from './calls.ts'
import { useOrder, useStatus } from './queries.ts'
import { useVisitor } from './session.ts'

/**
 * In the bar of every screen: one press switches everything off and disarms. Everybody may do that; only managers arm.
 */
export function Arming() {
  const { mayManage } = useVisitor()
  const armed = useStatus().data?.armed ?? true
  const { mutate, isPending } = useOrder()
  const order = (action: 'arm' | 'disarm', done: string) =>
    mutate(
      { action },
      { onSuccess: () => void toast(done), onError: (error) => void toast(`Not done: ${messageOf(error)}`) },
    )
  if (armed)
    return (
      <Button color="red" loading={isPending} onClick={() => order('disarm', 'Everything is off and stays off.')}>
        Stop everything
      </Button>
    )
  if (!mayManage) return <StatusMark shape="ring" word="Disarmed" />
  return (
    <Button variant="default" loading={isPending} onClick={() => order('arm', 'Armed: rules may fire again.')}>
      Arm
    </Button>
  )
}
