/**
 * Reads a gateway's QR label from the camera. The reader is plain JavaScript in the scanner's chunk: iPhones and most
 * desktops have no BarcodeDetector, and the Content-Security-Policy forbids WebAssembly.
 */
import { decodeQR } from 'qr/decode.js'

/** Enough for a label that fills a third of the picture, and a few milliseconds of work on a phone. */
const LONGEST_SIDE = 800

/** Returns a function that reads the code in the current frame: its text, or undefined. */
export function createCodeReader(video: HTMLVideoElement): () => string | undefined {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  return () => {
    const { videoWidth, videoHeight } = video
    if (context === null || videoWidth === 0 || videoHeight === 0) return undefined
    const scale = Math.min(1, LONGEST_SIDE / Math.max(videoWidth, videoHeight))
    const width = Math.round(videoWidth * scale)
    const height = Math.round(videoHeight * scale)
    context.canvas.width = width
    context.canvas.height = height
    context.drawImage(video, 0, 0, width, height)
    try {
      return decodeQR(context.getImageData(0, 0, width, height))
    } catch {
      // The decoder throws when there is no code.
      return undefined
    }
  }
}

const TOKEN = /\bDT-[0-9A-F]{12}\b/i

/** The device token in a label's text: the token itself, or an address with `?token=`. */
export function tokenIn(text: string): string | undefined {
  return TOKEN.exec(text)?.[0].toUpperCase()
}
