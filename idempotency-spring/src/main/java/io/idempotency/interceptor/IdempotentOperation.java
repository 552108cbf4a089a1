package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.Internal;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The annotation of one method of one class, merged, parsed and checked once.
 *
 * @param key the source and the scope of the key
 * @param fingerprint the values that must be equal on a retry
 * @param result the result of the method, and the lookup of the result
 * @param place the location of the record
 * @param traits the traits of the method
 * @hidden
 */
@Internal
public record IdempotentOperation(GuardedMethod guarded, IdempotencyOptions options, Key key,
		FingerprintSource fingerprint, Result result, Place place, OperationTraits traits) {

	/** Returns the name of the operation. */
	public String name() {
		return this.options.operation();
	}

	/**
	 * Returns whether the key, its scope, the condition or the expression of the
	 * fingerprint reads a value of the body.
	 */
	public boolean readsBody() {
		return this.key.source instanceof KeySource.Body || reads("body");
	}

	/**
	 * Returns whether the key, its scope, the condition or the expression of the
	 * fingerprint calls a method of the root object.
	 * @param rootMethod the name of the method, such as {@code header}
	 */
	public boolean reads(String rootMethod) {
		OperationExpression key = (this.key.source instanceof KeySource.Spel spel) ? spel.expression() : null;
		OperationExpression compared = (this.fingerprint instanceof FingerprintSource.Spel spel) ? spel.expression()
				: null;
		return Stream.of(key, compared, this.key.scope, this.key.condition)
			.anyMatch((expression) -> expression != null && expression.calls(rootMethod));
	}

	/** Creates the rejection of a call without a key; its message is for the log. */
	public IdempotencyKeyMissingException keyMissing() {
		String reason = (this.key.source instanceof KeySource.Spel spel)
				? " has no key. " + spel.expression().describe()
						+ " returned null or empty text. Set the values that it reads"
				: " requires a key " + this.key.source.place()
						+ ". Send a key, and send the same key when you retry the call";
		return new IdempotencyKeyMissingException(name(),
				"A call of '" + name() + "'" + reason + ". To allow calls without a key, set required = false");
	}

	/** Returns the name of the method for messages. */
	public String describe() {
		return this.guarded.describe();
	}

	/**
	 * Creates a startup error for an adapter.
	 * @param problem the problem, in words that follow a colon
	 * @param action the action
	 */
	public IdempotencyConfigurationException problem(String problem, String action) {
		return GuardedMethod.problem(this.guarded.method(), this.guarded.targetClass(), problem, action);
	}

	/**
	 * The calls that are guarded, and their keys.
	 *
	 * @param required whether a call without a key is rejected
	 * @param token whether the key must be an issued token
	 * @param scope the scope of the key, {@code null} for the default
	 * @param condition the call runs unguarded if the condition is {@code false};
	 * {@code null} if the call is always guarded
	 * @hidden
	 */
	public record Key(KeySource source, boolean required, boolean token, @Nullable OperationExpression scope,
			@Nullable OperationExpression condition) {

		/**
		 * Returns whether a client chooses the key, for one attempt. Such a key belongs
		 * to its caller; a business key is the same for all callers.
		 */
		public boolean isOfClient() {
			return this.token || !(this.source instanceof KeySource.Spel);
		}

		/**
		 * Returns whether the annotation has a scope, or the key identifies the bean or
		 * contains no operation.
		 */
		public boolean namesBean() {
			return this.token || this.scope != null
					|| this.source instanceof KeySource.Spel spel && spel.expression().calls("target");
		}

		/** Returns whether the key belongs to the current caller. */
		public boolean isOfCaller() {
			return this.scope == null && isOfClient();
		}

	}

	/**
	 * The result of the method.
	 *
	 * @param type the declared type; for an asynchronous result, the type inside it; for
	 * several values, a list of them
	 * @param form the form of the result
	 * @param recover the method that looks up the result, {@code null} without a lookup
	 * @hidden
	 */
	public record Result(Type type, ResultForm form, @Nullable Method recover) {

		/**
		 * Returns whether the method returns a
		 * {@link java.util.concurrent.CompletionStage}.
		 */
		public boolean async() {
			return this.form == ResultForm.FUTURE;
		}

	}

	/**
	 * The location of the record of a call.
	 *
	 * @param store the store of the records
	 * @param transactions the transactions in which the record commits together with the
	 * work, {@code null} for the store's own transaction
	 * @param surrounding returns the open transaction that the work of a call is a part
	 * of, for the innermost transaction of the calling thread; {@code null} if the work
	 * commits by itself
	 * @hidden
	 */
	public record Place(IdempotencyStore store, @Nullable WorkTransactions transactions,
			UnaryOperator<@Nullable SurroundingTransaction> surrounding) {

		/**
		 * Returns the thread-bound transactions in which the record commits, {@code null}
		 * for the store's own.
		 * @throws IllegalStateException if the record commits in transactions of
		 * subscriptions
		 */
		public @Nullable TransactionStarter ofThreads() {
			if (this.transactions == null || this.transactions instanceof TransactionStarter) {
				return (TransactionStarter) this.transactions;
			}
			throw new IllegalStateException("The transactions are not bound to a thread");
		}

	}

	/**
	 * The source of the values that must be equal on a retry.
	 *
	 * @hidden
	 */
	public sealed interface FingerprintSource {

		/**
		 * The request is compared.
		 *
		 * @hidden
		 */
		record Default() implements FingerprintSource {
		}

		/**
		 * The arguments are compared, because a client chose the key.
		 *
		 * @param arguments the compared arguments
		 * @hidden
		 */
		record Arguments(ArgumentFingerprinter arguments) implements FingerprintSource {
		}

		/**
		 * Nothing is compared.
		 *
		 * @hidden
		 */
		record None() implements FingerprintSource {
		}

		/**
		 * An expression over the arguments.
		 *
		 * @param expression the parsed expression
		 * @hidden
		 */
		record Spel(OperationExpression expression) implements FingerprintSource {
		}

	}

	/**
	 * The source of an operation's key.
	 *
	 * @hidden
	 */
	public sealed interface KeySource {

		/** Returns the place of the key for messages to clients: "… needs a key in …". */
		String place();

		/**
		 * An expression over the arguments, or an equivalent function.
		 *
		 * @param expression the parsed expression
		 * @hidden
		 */
		record Spel(OperationExpression expression) implements KeySource {

			@Override
			public String place() {
				return "in the values that identify it";
			}

		}

		/**
		 * A request (or message) header.
		 *
		 * @hidden
		 */
		record Header(String name) implements KeySource {

			@Override
			public String place() {
				return "in the header '" + this.name + "'";
			}

		}

		/**
		 * A value of the request body.
		 *
		 * @param pointer a JSON Pointer, or the name of a form field
		 * @hidden
		 */
		record Body(String pointer) implements KeySource {

			@Override
			public String place() {
				return "at '" + this.pointer + "' of its body";
			}

		}

	}

	/**
	 * Provides the operations of the application, however they are declared. Thread-safe.
	 *
	 * @hidden
	 */
	public interface OperationCatalog {

		/** Returns the known operations: after startup, all operations. */
		Collection<IdempotentOperation> operations();

	}

	/**
	 * Finds the operation of every method. Thread-safe.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	public interface IdempotentOperationSource extends OperationCatalog {

		/**
		 * Returns the operation of a method.
		 * @param method the method, possibly one of an interface
		 * @param targetClass the class of the bean
		 * @return the operation, {@code null} if calls of the method are not guarded
		 * @throws IdempotencyConfigurationException if the annotation is invalid
		 */
		@Nullable IdempotentOperation operation(Method method, Class<?> targetClass);

		@Override
		default Collection<IdempotentOperation> operations() {
			return List.of();
		}

		/**
		 * Returns whether a guarded method without a request mapping may read the body of
		 * the current request.
		 * @return whether one of the known methods may read it
		 */
		default boolean readsBodies() {
			return true;
		}

		/**
		 * Checks all operations of a class.
		 * @param targetClass the class of a bean
		 * @return the operations whose keys several beans of the class would share
		 * unintentionally
		 * @throws IdempotencyConfigurationException if the annotation of a method is
		 * invalid
		 */
		default Collection<IdempotentOperation> check(Class<?> targetClass) {
			return List.of();
		}

	}

}
