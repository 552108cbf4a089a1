package io.idempotency.store.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;
import io.idempotency.store.redis.ScriptRunner.Pending;
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

/**
 * One script, or a command that reads, for one caller. The command names the script; if
 * the server does not know it (after a restart, a failover or a {@code SCRIPT FLUSH}),
 * its text is sent.
 * <p>
 * A script can be withdrawn at any time: before a connection exists, in the queue of
 * Lettuce, or after it was sent. Lettuce queues a command that it cannot send at once,
 * and does not report later whether the command was sent. This command detects it,
 * because Lettuce calls it for encoding when it is sent.
 *
 * @param <T> the Java type of the reply
 */
final class LettuceScript<T> {

	private static final byte[] PING = RedisValues.ascii("*1\r\n$4\r\nPING\r\n");

	private final CompletableFuture<T> reply = new CompletableFuture<>();

	private final AtomicReference<Fate> fate = new AtomicReference<>(Fate.QUEUED);

	/** The command that is sent, or is to be sent. */
	private volatile AsyncCommand<byte[], byte[], T> command;

	/** Makes the command with the text of the script, {@code null} once it is sent. */
	private @Nullable Supplier<AsyncCommand<byte[], byte[], T>> withText;

	LettuceScript(RedisScript verb, byte[][] keyAndArguments) {
		this.command = command(CommandType.EVALSHA, output(verb), arguments(verb.sha1(), keyAndArguments));
		this.withText = () -> command(CommandType.EVAL, output(verb), arguments(verb.text(), keyAndArguments));
	}

	private LettuceScript(MasterRead read, CommandOutput<byte[], byte[], T> output,
			CommandArgs<byte[], byte[]> arguments) {
		this.command = command(read, output, arguments);
	}

	private AsyncCommand<byte[], byte[], T> command(ProtocolKeyword type, CommandOutput<byte[], byte[], T> output,
			CommandArgs<byte[], byte[]> arguments) {
		return new AsyncCommand<>(new FatefulCommand(type, output, arguments));
	}

	@SuppressWarnings("unchecked")
	private static <T> CommandOutput<byte[], byte[], T> output(RedisScript verb) {
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

	/** Makes the command that reads a value, in a cluster on the node of its key. */
	static LettuceScript<byte @Nullable []> get(byte[] key) {
		return new LettuceScript<>(MasterRead.GET, new ValueOutput<>(ByteArrayCodec.INSTANCE),
				new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(key));
	}

	/**
	 * Reads the {@code INFO} of the master. It waits as long as the client does, or a
	 * minute where that waits forever.
	 */
	static byte[] info(StatefulConnection<byte[], byte[]> connection) {
		LettuceScript<byte[]> info = new LettuceScript<>(MasterRead.INFO, new ValueOutput<>(ByteArrayCodec.INSTANCE),
				new CommandArgs<>(ByteArrayCodec.INSTANCE));
		info.send(connection);
		Duration patience = connection.getTimeout();
		return info.pending().await(Deadline.in(patience.isZero() ? Duration.ofMinutes(1) : patience));
	}

	Pending<T> pending() {
		return new Pending<>(this.reply, this::withdraw);
	}

	/**
	 * Sends scripts without a wait between them: in one write, or in a cluster each to
	 * its node.
	 * @param connection any connection; other callers may use it at the same time
	 */
	static <T> void sendAll(StatefulConnection<byte[], byte[]> connection, List<LettuceScript<T>> scripts) {
		if (scripts.size() == 1 || connection instanceof StatefulRedisClusterConnection) {
			// One write for all nodes would wait for nodes that are not connected yet.
			scripts.forEach((script) -> script.send(connection));
			return;
		}
		try {
			connection.dispatch(scripts.stream().map((script) -> script.observed(connection)).toList());
		}
		catch (RuntimeException ex) {
			scripts.forEach((script) -> script.withdraw(ex));
		}
	}

	private void send(StatefulConnection<byte[], byte[]> connection) {
		AsyncCommand<byte[], byte[], T> next = observed(connection);
		if (this.fate.get() == Fate.WITHDRAWN) {
			return;
		}
		try {
			connection.dispatch(next);
		}
		catch (RuntimeException ex) {
			withdraw(ex);
		}
	}

	private AsyncCommand<byte[], byte[], T> observed(StatefulConnection<byte[], byte[]> connection) {
		AsyncCommand<byte[], byte[], T> next = this.command;
		next.whenComplete((value, failure) -> replied(connection, value, failure));
		return next;
	}

	private void replied(StatefulConnection<byte[], byte[]> connection, T value, @Nullable Throwable failure) {
		Supplier<AsyncCommand<byte[], byte[], T>> next = this.withText;
		if (failure == null) {
			this.reply.complete(value);
		}
		else if (failure instanceof RedisNoScriptException && next != null && !this.reply.isDone()) {
			if (this.fate.compareAndSet(Fate.WRITTEN, Fate.QUEUED)) {
				this.withText = null;
				this.command = next.get();
				send(connection);
			}
		}
		else {
			withdraw(failure);
		}
	}

	/** Fails the reply, and prevents that the script is sent later. */
	void withdraw(Throwable reason) {
		boolean notSent = this.fate.getAndSet(Fate.WITHDRAWN) != Fate.WRITTEN;
		this.reply.completeExceptionally(notSent ? NotSentException.because(reason) : reason);
		this.command.cancel(true);
	}

	private final class FatefulCommand extends Command<byte[], byte[], T> {

		FatefulCommand(ProtocolKeyword type, CommandOutput<byte[], byte[], T> output,
				CommandArgs<byte[], byte[]> arguments) {
			super(type, output, arguments);
		}

		/**
		 * Writes the command. Lettuce skips a command that was cancelled before. A
		 * command that is cancelled just when it is about to be written has its position
		 * in the queue of replies already, so a {@code PING}, which has no effect, is
		 * written instead.
		 */
		@Override
		public void encode(ByteBuf buffer) {
			AtomicReference<Fate> fate = LettuceScript.this.fate;
			if (fate.compareAndSet(Fate.QUEUED, Fate.WRITTEN) || fate.get() == Fate.WRITTEN) {
				super.encode(buffer);
			}
			else {
				buffer.writeBytes(PING);
			}
		}

	}

	/**
	 * Commands that are unknown to Lettuce, so that it does not send them to a replica.
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
