package io.idempotency.engine;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Internal;
import io.idempotency.engine.AsyncResults.DeferredResults;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The programmatic adapter: {@link IdempotencyTemplate} on the engine.
 *
 * @hidden
 */
@Internal
public final class DefaultIdempotencyTemplate implements IdempotencyTemplate {

	final IdempotencyEngine engine;

	final IdempotencyStore store;

	private final ResultCodec codec;

	final IdempotencyOptions defaults;

	final TemplateEnvironment environment;

	/**
	 * A check of a type needs reflection and the JSON mapper, so each type is checked
	 * only once.
	 */
	private final Map<Type, TemplateResult> replayable = new ConcurrentHashMap<>();

	private final Map<Type, TemplateResult> others = new ConcurrentHashMap<>();

	final Namespace namespace;

	/**
	 * Creates a template for an application without transactions, with one store and
	 * without a namespace.
	 * @param store the store of the records
	 * @param codec encodes results
	 * @param defaults the defaults of the options
	 */
	public DefaultIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyOptions defaults) {
		this(engine, store, codec, defaults, TemplateEnvironment.NONE, Namespace.NONE);
	}

	/**
	 * Creates a template.
	 * @param store the store for calls that do not name a store
	 * @param codec encodes results
	 * @param defaults the defaults of the options
	 * @param environment the application
	 * @param namespace the namespace of the operations
	 */
	public DefaultIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyOptions defaults, TemplateEnvironment environment, Namespace namespace) {
		this.engine = engine;
		this.store = store;
		this.codec = codec;
		this.defaults = defaults;
		this.environment = environment;
		this.namespace = namespace;
	}

	@Override
	public Call operation(String operation) {
		return new EngineCall(operation, this);
	}

	/**
	 * Describes a call for another engine.
	 * @param <T> the type of the result
	 * @param operation name of the operation
	 * @param description sets the key and the other attributes of the call
	 * @param type the type as which a stored result is decoded
	 * @throws io.idempotency.IdempotencyException if the call has no key
	 * @throws IllegalArgumentException if results of the type cannot be replayed, or if
	 * attributes of the call contradict each other
	 */
	public <T> DescribedCall<T> describe(String operation, Consumer<? super Call> description, Type type) {
		EngineCall call = new EngineCall(operation, this);
		description.accept(call);
		return call.describe(type);
	}

	ResultCodec codec(String operation) {
		ResultCodec own = this.environment.codec(operation);
		return (own != null) ? own : this.codec;
	}

	TemplateResult result(String operation, Type declared, boolean replayed) {
		Map<Type, TemplateResult> known = replayed ? this.replayable : this.others;
		TemplateResult result = known.get(declared);
		return (result != null) ? result : known.computeIfAbsent(declared,
				(type) -> TemplateResult.of(operation, type, replayed, this.codec, this.environment::isDeferred));
	}

	/**
	 * A call of a template that another engine guards.
	 *
	 * @param call the description of the call for the engine
	 * @param values stores and replays the values; it is not run
	 * @param recovery looks up the result, {@code null} without a lookup
	 * @hidden
	 */
	public record DescribedCall<T>(GuardedCall call, ValueAction<T> values, @Nullable Callable<?> recovery) {

	}

	/**
	 * The result that a call of a template declares, by the rules of annotated methods.
	 *
	 * @param type the type of the value
	 * @param async whether the value comes inside a {@link CompletionStage}
	 */
	record TemplateResult(Type type, boolean async) {

		/**
		 * Reads a declared type.
		 * @param replayed whether duplicates get results of this type
		 * @param deferred whether the work of a type continues after the action returned
		 * @throws IllegalArgumentException if results of this type cannot be guarded, or
		 * cannot be replayed; the message names the operation and the type
		 */
		static TemplateResult of(String operation, Type declared, boolean replayed, ResultCodec codec,
				Predicate<Type> deferred) {
			TemplateResult result = of(operation, declared);
			if (deferred.test(result.type)) {
				throw rejected(operation, declared,
						"its work may continue after the action returns, and its end cannot be observed");
			}
			String problem = replayed ? codec.unsupported(result.type) : null;
			if (problem != null) {
				throw rejected(operation, declared, "it cannot be stored for a replay: " + problem);
			}
			return result;
		}

		private static TemplateResult of(String operation, Type declared) {
			if (isFuture(declared)) {
				throw rejected(operation, declared,
						"its value type is unknown. Use executeAsync with the type of the value");
			}
			if (declared instanceof ParameterizedType generic && isFuture(generic.getRawType())) {
				return new TemplateResult(generic.getActualTypeArguments()[0], true);
			}
			return new TemplateResult(declared, false);
		}

		private static boolean isFuture(@Nullable Type type) {
			return type == CompletableFuture.class || type == CompletionStage.class;
		}

		private static IllegalArgumentException rejected(String operation, Type declared, String problem) {
			return new IllegalArgumentException(
					"A result of '" + operation + "' cannot be declared as " + declared.getTypeName() + ": " + problem);
		}

	}

	/**
	 * The application around a template, as far as the template needs it. Thread-safe.
	 *
	 * @hidden
	 */
	public interface TemplateEnvironment {

		/** An application without codecs, named stores, transactions and callers. */
		TemplateEnvironment NONE = new TemplateEnvironment() {
		};

		/**
		 * Returns the codec for the results of one operation.
		 * @param operation name of the operation
		 * @return the codec, {@code null} for the codec of the template
		 */
		default @Nullable ResultCodec codec(String operation) {
			return null;
		}

		/**
		 * Finds a store.
		 * @param name name of the bean
		 * @throws IllegalArgumentException if the store does not exist
		 */
		default IdempotencyStore store(String name) {
			throw new IllegalArgumentException("Store '" + name + "' does not exist");
		}

		/**
		 * Finds the transactions that a call may join.
		 * @throws IllegalArgumentException if there is not exactly one transaction
		 * manager
		 */
		default TransactionStarter transactions() {
			throw new IllegalArgumentException("No transactions are available to join");
		}

		/** Returns the current caller, to which tokens are bound. */
		default Caller caller() {
			return Caller.ANONYMOUS;
		}

		/**
		 * Returns the HTTP status that a failure requests. It is stored together with the
		 * failure.
		 * @param failure the exception of an action
		 * @return the status, 0 if the failure does not request one
		 */
		default int statusOf(Throwable failure) {
			return 0;
		}

		/**
		 * Returns whether the work of a result continues after the action returned.
		 * @param type the declared type of the result
		 */
		default boolean isDeferred(Type type) {
			return DeferredResults.OF_JDK.include(type);
		}

	}

}
