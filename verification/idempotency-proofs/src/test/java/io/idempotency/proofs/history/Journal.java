package io.idempotency.proofs.history;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * What one process writes down about itself, a line for each event. A line is with the
 * kernel before the process goes on, so that its SIGKILL takes nothing back.
 */
final class Journal implements AutoCloseable {

	private final FileOutputStream file;

	Journal(Path file) {
		try {
			this.file = new FileOutputStream(file.toFile(), true);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Microseconds of the monotonic clock, which is one for all processes of a Linux and
	 * which no shifted clock moves.
	 */
	static long now() {
		return System.nanoTime() / 1_000;
	}

	/** Writes an event that happens now, or is about to. */
	void write(String event, Object... words) {
		StringBuilder line = new StringBuilder(event).append(' ').append(now());
		for (Object word : words) {
			line.append(' ').append(word);
		}
		try {
			// One write to the end of the file: the lines of two threads never mix.
			this.file.write(line.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.file.close();
	}

}
