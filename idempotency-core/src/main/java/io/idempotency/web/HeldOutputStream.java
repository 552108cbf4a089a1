package io.idempotency.web;

import java.io.IOException;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;

/** Writes into the body of an answer, which holds the bytes or passes them through. */
final class HeldOutputStream extends ServletOutputStream {

	private final HeldBody body;

	HeldOutputStream(HeldBody body) {
		this.body = body;
	}

	@Override
	public void write(int value) throws IOException {
		this.body.write(new byte[] { (byte) value }, 0, 1);
	}

	@Override
	public void write(byte[] bytes, int offset, int length) throws IOException {
		this.body.write(bytes, offset, length);
	}

	@Override
	public void flush() throws IOException {
		this.body.flush();
	}

	@Override
	public void close() throws IOException {
		this.body.closeStream();
	}

	@Override
	public boolean isReady() {
		if (!passesThrough()) {
			return true;
		}
		try {
			return this.body.target().isReady();
		}
		catch (IOException ex) {
			// The next write throws the exception.
			return true;
		}
	}

	private boolean passesThrough() {
		return this.body.mode() == HeldBody.Mode.PASS || this.body.mode() == HeldBody.Mode.STREAM;
	}

	/**
	 * Makes the answer a stream, because only a stream can wait until the container has
	 * room for more bytes and calls the listener.
	 */
	@Override
	public void setWriteListener(WriteListener listener) {
		try {
			this.body.stream();
			if (passesThrough()) {
				this.body.target().setWriteListener(listener);
			}
			else {
				listener.onWritePossible();
			}
		}
		catch (IOException ex) {
			listener.onError(ex);
		}
	}

}
