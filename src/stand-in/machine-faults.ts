import { type Dialect, libraryVersion } from './machine/dialect.js';
import type { Machine } from './machine/machine.js';
import { type Output, sentence } from './output.js';

/** Why no query can be answered on this machine at all; null when the driver answers and there is a card. */
export function machineFault({ fault, driver, cards }: Machine, dialect: Dialect, listing: boolean): Output | null {
  switch (fault) {
    case 'driver_not_loaded':
      return sentence(
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n",
        9,
      );
    case 'no_library':
      return sentence(
        "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver is properly installed and present in your system.\nPlease also try adding directory that contains libnvidia-ml.so to your system PATH.\n",
        12,
      );
    case 'library_mismatch': {
      const library = dialect.mismatchRc === 18 ? `NVML library version: ${libraryVersion(driver)}\n` : '';
      return sentence(`Failed to initialize NVML: Driver/library version mismatch\n${library}`, dialect.mismatchRc);
    }
    case 'init_unknown_error':
      return sentence('Failed to initialize NVML: Unknown Error\n', 255);
    case 'init_gpu_lost':
      return sentence('Failed to initialize NVML: GPU is lost\n', 15);
    case 'init_access_blocked':
      return sentence('Failed to initialize NVML: GPU access blocked by the operating system\n', 17);
    case 'no_devices':
      return noDevices(listing);
    case 'inforom_corrupted':
    case null:
      return cards.every((card) => card.fault?.kind === 'gone') ? noDevices(listing) : null;
    default:
      return fault satisfies never;
  }
}

/** `-L` treats an empty machine as a success. */
function noDevices(listing: boolean): Output {
  return listing ? sentence('No devices found.\n', 0) : sentence('No devices were found\n', 6);
}
