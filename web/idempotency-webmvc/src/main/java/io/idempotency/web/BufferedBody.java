package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.idempotency.http.ByteArrayBuffer;
import jakarta.servlet.ServletOutputStream;

/**
 * The body of a response: buffered until its record is complete, or passed through. A
 * body that is larger than the limit passes through except for its last byte, so that the
 * client never sees its end before the record is complete.
 * <p>
 * A worker whose response timed out may still write while the request thread completes
 * the response, so a lock guards all modes except the plain pass-through.
 */
final class BufferedBody {

	/**
	 * The buffer in all modes except one. All responses share it, so it is never written:
	 * it is assigned under the lock that a writer holds while it checks the mode.
	 */
	private static final ByteArrayBuffer NOTHING = new ByteArrayBuffer();

	private static final int NONE = -1;

	private final Target target;

	private final Lock lock = new ReentrantLock();

	private final Locked unlock = this.lock::unlock;

	private volatile Mode mode = Mode.PASS;

	private ByteArrayBuffer buffer = NOTHING;

	private long limit;

	private BooleanSupplier streaming = () -> false;

	private Runnable beforeOutput = () -> {
	};

	private boolean flushRequested;

	private volatile boolean ended;

	private boolean written;

	/** The last byte of a body over the limit. */
	private int lastByte = NONE;

	private boolean disconnected;

	BufferedBody(Target target) {
		this.target = target;
	}

	private Locked lock() {
		this.lock.lock();
		return this.unlock;
	}

	/**
	 * Buffers all output from now on.
	 * @param maxBytes the maximum number of bytes in the buffer
	 * @param task called before output passes through
	 */
	void hold(long maxBytes, Runnable task) {
		this.limit = maxBytes;
		this.beforeOutput = task;
		this.buffer = new ByteArrayBuffer();
		this.mode = Mode.HOLD;
	}

	/** Checks before each output whether the response turned out to be a stream. */
	void streamIf(BooleanSupplier condition) {
		this.streaming = condition;
	}

	/** Sends the buffered bytes and passes all output through from now on. */
	void stream() throws IOException {
		try (Locked locked = lock()) {
			if (this.mode == Mode.HOLD) {
				startStream();
			}
			else if (this.mode == Mode.OVERFLOW) {
				sendTail();
				this.mode = Mode.STREAM;
			}
		}
	}

	private void startStream() throws IOException {
		this.beforeOutput.run();
		this.mode = Mode.STREAM;
		if (!isEmpty()) {
			target().write(this.buffer.array(), 0, this.buffer.size());
		}
		if (this.flushRequested) {
			target().flush();
		}
		this.buffer = NOTHING;
	}

	/**
	 * Drops the buffered bytes.
	 * @param next the mode from now on
	 */
	void drop(Mode next) {
		try (Locked locked = lock()) {
			this.mode = next;
			this.buffer = NOTHING;
		}
	}

	void write(byte[] bytes, int offset, int length) throws IOException {
		if (this.mode == Mode.PASS) {
			this.written = true;
			target().write(bytes, offset, length);
			return;
		}
		try (Locked locked = lock()) {
			if (this.mode == Mode.HOLD && this.streaming.getAsBoolean()) {
				startStream();
			}
			if (this.mode == Mode.HOLD && !this.ended && this.buffer.size() + (long) length > this.limit) {
				overflow();
			}
			switch (this.mode) {
				case HOLD -> {
					if (!this.ended) {
						this.buffer.write(bytes, offset, length);
					}
				}
				case OVERFLOW -> writeAllButLast(bytes, offset, length);
				case PASS, STREAM -> target().write(bytes, offset, length);
				case CLOSED -> {
					// The response is complete, so the output is dropped.
				}
			}
		}
	}

	private void overflow() {
		this.beforeOutput.run();
		this.mode = Mode.OVERFLOW;
		ByteArrayBuffer first = this.buffer;
		this.buffer = NOTHING;
		writeAllButLast(first.array(), 0, first.size());
		if (this.flushRequested) {
			toClient(ServletOutputStream::flush);
		}
	}

	private void writeAllButLast(byte[] bytes, int offset, int length) {
		if (length > 0) {
			sendTail();
			toClient((out) -> out.write(bytes, offset, length - 1));
			this.lastByte = bytes[offset + length - 1] & 0xFF;
		}
	}

	/** Sends the last byte of a body that was over the limit. */
	void sendTail() {
		try (Locked locked = lock()) {
			int last = this.lastByte;
			if (last != NONE) {
				this.lastByte = NONE;
				toClient((out) -> out.write(last));
			}
		}
	}

	/**
	 * Sends output over the limit. If the client disconnects, the handler continues and
	 * the record is completed.
	 */
	private void toClient(Output output) {
		if (!this.disconnected) {
			try {
				output.writeTo(target());
			}
			catch (IOException ex) {
				this.disconnected = true;
			}
		}
	}

	void flush() throws IOException {
		if (this.mode == Mode.PASS) {
			target().flush();
			return;
		}
		try (Locked locked = lock()) {
			this.flushRequested = true;
			if (this.mode == Mode.HOLD && this.streaming.getAsBoolean()) {
				startStream();
			}
			else if (this.mode == Mode.OVERFLOW) {
				toClient(ServletOutputStream::flush);
			}
			else if (this.mode == Mode.STREAM) {
				target().flush();
			}
		}
	}

	/**
	 * Drops the buffer and a requested flush, as if the handler had not written anything.
	 */
	void startAnew() {
		reset();
		this.ended = false;
		this.flushRequested = false;
	}

	/** Drops all later output, because an error or a redirect ends the response. */
	void ignoreWrites() {
		this.ended = true;
	}

	/**
	 * Handles the close of the stream by the handler. A buffered response ends only when
	 * its record is complete; a response that passes through ends at once.
	 */
	void closeStream() throws IOException {
		if (passesThrough()) {
			target().close();
		}
		else {
			flush();
		}
	}

	/** Drops the buffered bytes, as a response does when its buffer is reset. */
	void reset() {
		try (Locked locked = lock()) {
			this.buffer.truncate(0);
		}
	}

	/** Returns whether output passed through before it could be buffered. */
	boolean isWritten() {
		return this.written;
	}

	Mode mode() {
		return this.mode;
	}

	boolean passesThrough() {
		return this.mode == Mode.PASS || this.mode == Mode.STREAM;
	}

	boolean isFlushRequested() {
		return this.flushRequested;
	}

	boolean isEmpty() {
		return this.buffer.size() == 0;
	}

	/** Returns the buffered bytes, not a copy. */
	ByteBuffer buffered() {
		return this.buffer.toBuffer();
	}

	ServletOutputStream target() throws IOException {
		return this.target.open();
	}

	/** What happens to output. */
	enum Mode {

		/** Output passes through, because no guarded call is in progress. */
		PASS,

		/** Output is buffered. */
		HOLD,

		/** The body is too large: all bytes except the last one pass through. */
		OVERFLOW,

		/** The response is a stream, and output passes through. */
		STREAM,

		/** The response is complete, and output is dropped. */
		CLOSED

	}

	/** Opens the stream of the wrapped response. */
	@FunctionalInterface
	interface Target {

		ServletOutputStream open() throws IOException;

	}

	@FunctionalInterface
	private interface Output {

		void writeTo(ServletOutputStream out) throws IOException;

	}

	@FunctionalInterface
	private interface Locked extends AutoCloseable {

		@Override
		void close();

	}

}
