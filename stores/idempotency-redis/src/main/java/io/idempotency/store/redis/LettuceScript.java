package io.idempotency.store.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.buffer.ByteBuf;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.QueryTimeoutException;

/**
 * One script, or a command that reads, on its way through Lettuce; a caller waits for it
 * no longer than its deadline. Lettuce queues a command that it cannot send at once, and
 * cannot say later whether the command was sent. This command can say it, because Lettuce
 * asks the command to encode itself when it is sent.
 *
 * @param <T> the Java type of the verb's reply
 */
final class LettuceScript<T> extends Command<byte[], byte[], T> {

	private static final byte[] PING = RedisValues.ascii("*1\r\n$4\r\nPING\r\n");

	private final AtomicReference<Fate> fate = new AtomicReference<>(Fate.QUEUED);

	private final AsyncCommand<byte[], byte[], T> reply = new AsyncCommand<>(this);

	private LettuceScript(CommandType type, String script, Verb verb, byte[][] keyAndArguments) {
		this(type, output(verb), arguments(script, keyAndArguments));
	}

	private LettuceScript(ProtocolKeyword type, CommandOutput<byte[], byte[], T> output,
			CommandArgs<byte[], byte[]> arguments) {
		super(type, output, arguments);
	}

	@SuppressWarnings("unchecked")
	private static <T> CommandOutput<byte[], byte[], T> output(Verb verb) {
		return (CommandOutput<byte[], byte[], T>) switch (verb.returnType()) {
			case VALUE -> new ValueOutput<>(ByteArrayCodec.INSTANCE);
			case MULTI -> new NestedMultiOutput<>(ByteArrayCodec.INSTANCE);
			default -> new IntegerOutput<>(ByteArrayCodec.INSTANCE);
		};
	}

	private static CommandArgs<byte[], byte[]> arguments(String script, byte[][] keyAndArguments) {
		return new CommandArgs<>(ByteArrayCodec.INSTANCE).add(script)
			.add(1)
			.addKey(keyAndArguments[0])
			.addValues(Arrays.asList(keyAndArguments).subList(1, keyAndArguments.length));
	}

	/** Makes the command that names the script; the server may not know the script. */
	static <T> LettuceScript<T> named(Verb verb, byte[][] keyAndArguments) {
		return new LettuceScript<>(CommandType.EVALSHA, verb.sha1(), verb, keyAndArguments);
	}

	/**
	 * Makes the command with the text of the script; the server knows the script from
	 * then on.
	 */
	static <T> LettuceScript<T> whole(Verb verb, byte[][] keyAndArguments) {
		return new LettuceScript<>(CommandType.EVAL, verb.text(), verb, keyAndArguments);
	}

	/**
	 * Runs a script, in a cluster on the node of its key.
	 * @param <T> the Java type of the verb's reply
	 * @param connection any connection; other callers may use it at the same time
	 * @param keyAndArguments the key, then the arguments
	 * @param deadline until when to wait for the reply
	 * @return the reply
	 * @throws NotSentException if the script did not leave and never will
	 */
	static <T> T run(StatefulConnection<byte[], byte[]> connection, Verb verb, byte[][] keyAndArguments,
			Deadline deadline) {
		try {
			return LettuceScript.<T>named(verb, keyAndArguments).sendOn(connection, deadline).await(deadline);
		}
		catch (RedisNoScriptException ex) {
			return LettuceScript.<T>whole(verb, keyAndArguments).sendOn(connection, deadline).await(deadline);
		}
	}

	/** Reads a value, in a cluster on the node of its key. */
	static byte @Nullable [] get(StatefulConnection<byte[], byte[]> connection, byte[] key, Deadline deadline) {
		return get(key).sendOn(connection, deadline).await(deadline);
	}

	/** Makes the command that reads a value. */
	static LettuceScript<byte @Nullable []> get(byte[] key) {
		return new LettuceScript<>(MasterRead.GET, new ValueOutput<>(ByteArrayCodec.INSTANCE),
				new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(key));
	}

	/**
	 * Asks the master what it says of itself. It waits as long as the client does, or a
	 * minute where that waits for ever.
	 */
	static byte[] info(StatefulConnection<byte[], byte[]> connection) {
		Duration patience = connection.getTimeout();
		return new LettuceScript<byte[]>(MasterRead.INFO, new ValueOutput<>(ByteArrayCodec.INSTANCE),
				new CommandArgs<>(ByteArrayCodec.INSTANCE))
			.sendOn(connection)
			.await(Deadline.in(patience.isZero() ? Duration.ofMinutes(1) : patience));
	}

	private LettuceScript<T> sendOn(StatefulConnection<byte[], byte[]> connection, Deadline deadline) {
		if (deadline.isOver()) {
			throw new NotSentException(new QueryTimeoutException("No time was left to send it"));
		}
		return sendOn(connection);
	}

	/** Sends the command, for a caller that does not wait. */
	CompletableFuture<T> reply(StatefulConnection<byte[], byte[]> connection) {
		return sendOn(connection).reply;
	}

	private LettuceScript<T> sendOn(StatefulConnection<byte[], byte[]> connection) {
		connection.dispatch(this.reply);
		return this;
	}

	/**
	 * Sends scripts without a wait between them: in one write, or in a cluster each to
	 * its node.
	 */
	static <T> void sendAll(StatefulConnection<byte[], byte[]> connection, List<LettuceScript<T>> scripts) {
		if (connection instanceof StatefulRedisClusterConnection) {
			// One write for all nodes would wait for nodes that are not connected yet.
			scripts.forEach((script) -> script.sendOn(connection));
		}
		else if (!scripts.isEmpty()) {
			connection.dispatch(scripts.stream().map((script) -> script.reply).toList());
		}
	}

	/**
	 * Waits for the reply. If there is none in time, the script is withdrawn, so that it
	 * is not sent later.
	 * @throws NotSentException if the script did not leave and never will
	 */
	T await(Deadline deadline) {
		try {
			return LettuceFutures.awaitOrCancel(this.reply, deadline.rest(), TimeUnit.NANOSECONDS);
		}
		catch (RuntimeException ex) {
			if (withdraw()) {
				throw new NotSentException(ex);
			}
			throw ex;
		}
	}

	/**
	 * Cancels the script and returns whether it did not leave and never will.
	 */
	boolean withdraw() {
		this.reply.cancel(true);
		return this.fate.compareAndSet(Fate.QUEUED, Fate.WITHDRAWN) || this.fate.get() == Fate.WITHDRAWN;
	}

	/**
	 * Writes the command. Lettuce skips a command that was cancelled before. A command
	 * that is cancelled just when it is about to be written has its place in the queue of
	 * replies already, so a {@code PING}, which has no effect, is written instead.
	 */
	@Override
	public void encode(ByteBuf buffer) {
		if (this.fate.compareAndSet(Fate.QUEUED, Fate.WRITTEN) || this.fate.get() == Fate.WRITTEN) {
			super.encode(buffer);
		}
		else {
			buffer.writeBytes(PING);
		}
	}

	/**
	 * Commands that Lettuce does not know, and so does not take for such as a replica may
	 * answer.
	 */
	private enum MasterRead implements ProtocolKeyword {

		GET, INFO;

		private final byte[] bytes = RedisValues.ascii(name());

		@Override
		public byte[] getBytes() {
			return this.bytes;
		}

	}

	private enum Fate {

		QUEUED, WRITTEN, WITHDRAWN

	}

}
