package io.idempotency.web;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

import io.idempotency.http.ByteArrayBuffer;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, which is read once from the container. The stream records the
 * bytes up to a limit. It can also read ahead, so that the whole body is known before the
 * first reader. Not thread-safe.
 */
final class RecordingInputStream extends ServletInputStream {

	private static final int INITIAL_SIZE = 512;

	/** Maximum initial size. A client may declare more bytes than it sends. */
	private static final int MAX_INITIAL_SIZE = 64 * 1024;

	private final ServletInputStream source;

	private final long limit;

	private final int initialSize;

	/**
	 * The bytes that were read from the source, positioned at the next byte of the
	 * reader. {@code null} for no bytes.
	 */
	private @Nullable ByteArrayBuffer recorded;

	private int position;

	private boolean recording = true;

	private boolean tooLarge;

	private boolean lost;

	private boolean ended;

	/**
	 * The number of declared bytes that are still missing, negative if the length is
	 * unknown.
	 */
	private long missing;

	/** Whether the source failed. An asynchronous reader may use another thread. */
	private volatile boolean broken;

	/**
	 * Creates the stream.
	 * @param source the container's stream
	 * @param limit the maximum number of recorded bytes
	 * @param expected the declared number of bytes, -1 if it is not declared
	 * @param checked whether this stream checks that number, because the container does
	 * not
	 */
	RecordingInputStream(ServletInputStream source, long limit, long expected, boolean checked) {
		this.source = source;
		this.missing = checked ? expected : -1;
		this.limit = limit;
		// One additional byte, so that the end of the body is detected without a larger
		// array.
		this.initialSize = (expected >= 0) ? (int) Math.min(expected, MAX_INITIAL_SIZE) + 1 : INITIAL_SIZE;
	}

	/** Passes the body through from now on, because the guard does not need it. */
	void stopRecording() {
		this.recording = false;
		this.lost |= this.position > 0;
	}

	/**
	 * Reads the body to its end. Later readers still receive all of it.
	 * @return whether the whole body is known, {@code false} if it exceeds the limit
	 * @throws IOException if the body could not be read
	 * @throws IllegalStateException if part of it was read and is not recorded
	 */
	boolean readAhead() throws IOException {
		if (this.lost) {
			throw new IllegalStateException("The request body was read before the key or the fingerprint was "
					+ "determined. Only guarded controller methods can use the body");
		}
		while (!this.tooLarge && !this.ended) {
			ByteArrayBuffer sink = sink();
			this.ended = source((stream) -> sink.readFrom(stream)) < 0;
			this.tooLarge = sink.size() > this.limit;
		}
		return !this.tooLarge;
	}

	private int source(Reading reading) throws IOException {
		try {
			int read = reading.read(this.source);
			this.missing -= Math.max(read, 0);
			if (read < 0 && this.missing > 0) {
				throw new EOFException("The body is shorter than announced");
			}
			return read;
		}
		catch (IOException | RuntimeException ex) {
			this.broken = true;
			throw ex;
		}
	}

	/** Returns whether the container could not read the body to its end. */
	boolean isBroken() {
		return this.broken;
	}

	/** Returns the recorded bytes, not a copy. */
	ByteBuffer recorded() {
		return sink().toBuffer();
	}

	private ByteArrayBuffer sink() {
		if (this.recorded == null) {
			this.recorded = new ByteArrayBuffer(this.initialSize);
		}
		return this.recorded;
	}

	private void append(byte[] bytes, int offset, int length) {
		ByteArrayBuffer sink = sink();
		sink.write(bytes, offset, length);
		this.tooLarge |= sink.size() > this.limit;
	}

	@Override
	public int read() throws IOException {
		byte[] one = new byte[1];
		return (read(one, 0, 1) > 0) ? one[0] & 0xFF : -1;
	}

	@Override
	public int read(byte[] bytes, int offset, int length) throws IOException {
		if (length == 0) {
			return 0;
		}
		int rest = rest();
		if (rest > 0 && this.recorded != null) {
			int served = Math.min(rest, length);
			System.arraycopy(this.recorded.array(), this.position, bytes, offset, served);
			this.position += served;
			return served;
		}
		int read = this.ended ? -1 : source((stream) -> stream.read(bytes, offset, length));
		if (read < 0) {
			this.ended = true;
		}
		else {
			passed(bytes, offset, read);
		}
		return read;
	}

	private void passed(byte[] bytes, int offset, int length) {
		if (this.recording && !this.tooLarge) {
			append(bytes, offset, length);
			this.position += length;
		}
		else {
			this.lost |= !this.tooLarge && length > 0;
		}
		if (this.tooLarge || !this.recording) {
			// The reader received all recorded bytes.
			this.recorded = null;
			this.position = 0;
		}
	}

	private int rest() {
		return (this.recorded != null) ? this.recorded.size() - this.position : 0;
	}

	@Override
	public int available() throws IOException {
		int rest = rest();
		if (rest > 0) {
			return rest;
		}
		return this.ended ? 0 : this.source.available();
	}

	@Override
	public boolean isFinished() {
		return rest() == 0 && (this.ended || this.source.isFinished());
	}

	@Override
	public boolean isReady() {
		return rest() > 0 || this.ended || this.source.isReady();
	}

	@Override
	public void setReadListener(ReadListener listener) {
		if (rest() == 0 && !this.ended) {
			this.source.setReadListener(listener);
			return;
		}
		try {
			int before = -1;
			while (rest() > 0 && this.position != before) {
				before = this.position;
				listener.onDataAvailable();
			}
			if (isFinished()) {
				listener.onAllDataRead();
			}
		}
		catch (IOException ex) {
			listener.onError(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.source.close();
	}

	/**
	 * Reads from the source.
	 */
	@FunctionalInterface
	private interface Reading {

		int read(ServletInputStream source) throws IOException;

	}

}
