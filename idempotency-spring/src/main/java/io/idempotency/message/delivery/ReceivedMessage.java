package io.idempotency.message.delivery;

import java.util.List;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * One message, as far as a key can be read from it.
 *
 * @hidden
 */
@Internal
public interface ReceivedMessage {

	/** The message of a listener whose arguments do not carry it. */
	ReceivedMessage UNKNOWN = new ReceivedMessage() {

		@Override
		public List<Object> headers(String name) {
			return List.of();
		}

		@Override
		public @Nullable String id() {
			return null;
		}

		@Override
		public @Nullable String source() {
			return null;
		}

		@Override
		public @Nullable Object payload() {
			return null;
		}

	};

	/**
	 * Returns the values of a header.
	 * @param name the name, in any case
	 * @return each value that was sent, in their order; empty if there is none
	 */
	List<Object> headers(String name);

	/**
	 * Returns the id, which is the same whenever the broker delivers this message.
	 * @return the id, {@code null} if the message has none
	 */
	@Nullable String id();

	/**
	 * Returns where the listener gets its messages from.
	 * @return the queue, {@code null} if the message does not tell
	 */
	@Nullable String source();

	/**
	 * Returns what the message holds.
	 * @return the payload, {@code null} if it is empty
	 */
	@Nullable Object payload();

}
