/**
 * Reading a gateway's QR label with the browser's own barcode reader. There is no reader of ours beside it: the one
 * to be had is WebAssembly, which the hub's policy does not let a page compile. Elsewhere the label is scanned with
 * the phone's camera app, since what it holds is the address of the claim dialog.
 */
type CodeReader = { detect(source: HTMLVideoElement): Promise<readonly { rawValue: string }[]> }
type CodeReaderClass = {
  new (options: { formats: string[] }): CodeReader
  getSupportedFormats(): Promise<readonly string[]>
}

const FORMAT = 'qr_code'
const readerClass = (): CodeReaderClass | undefined =>
  (globalThis as { BarcodeDetector?: CodeReaderClass }).BarcodeDetector

/** Whether this browser reads QR codes and gives this page a camera, which it does on secure addresses only. */
export async function canScanCodes(): Promise<boolean> {
  const Reader = readerClass()
  // Absent where the page is not secure, whatever the types say.
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (Reader === undefined || devices === undefined) return false
  return (await Reader.getSupportedFormats().catch((): readonly string[] => [])).includes(FORMAT)
}

/** Undefined where `canScanCodes` says no. */
export function createCodeReader(): CodeReader | undefined {
  const Reader = readerClass()
  return Reader === undefined ? undefined : new Reader({ formats: [FORMAT] })
}

const TOKEN = /\bDT-[0-9A-F]{12}\b/i

/** The device token in what a label says: the bare token, or an address with `?token=`. */
export function tokenIn(text: string): string | undefined {
  return TOKEN.exec(text)?.[0].toUpperCase()
}
