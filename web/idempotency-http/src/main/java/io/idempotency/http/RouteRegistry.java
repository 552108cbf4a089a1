package io.idempotency.http;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOptions.Attributes;
import io.idempotency.Internal;
import io.idempotency.interceptor.GuardedMethod;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.Key;
import io.idempotency.interceptor.IdempotentOperation.Place;
import io.idempotency.interceptor.IdempotentOperation.Result;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.IdempotentOperation.OperationCatalog;
import io.idempotency.interceptor.OperationExpression;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.ResultForm;
import io.idempotency.interceptor.RequestValues.BodyPointers;
import io.idempotency.key.HeaderKeyParser;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Creates and finds the operations of functional routes. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class RouteRegistry implements OperationCatalog, SmartInitializingSingleton {

	private final IdempotencyOptions defaults;

	private final String keyHeader;

	private final IdempotencyStore store;

	private final Function<String, IdempotencyStore> stores;

	private final Supplier<? extends OperationCatalog> annotated;

	private final List<IdempotentOperation> operations = new CopyOnWriteArrayList<>();

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the registry.
	 * @param defaults the defaults of the options
	 * @param keyHeader the header of the key, unless a route specifies another location
	 * @param store the store of the records, unless a route specifies another one
	 * @param stores finds the other stores by name; throws an
	 * {@link IllegalArgumentException} if a store does not exist
	 * @param annotated provides the operations of methods, whose names routes must not
	 * use
	 */
	public RouteRegistry(IdempotencyOptions defaults, String keyHeader, IdempotencyStore store,
			Function<String, IdempotencyStore> stores, Supplier<? extends OperationCatalog> annotated) {
		this.defaults = defaults;
		this.keyHeader = keyHeader;
		this.store = store;
		this.stores = stores;
		this.annotated = annotated;
	}

	/**
	 * Creates an operation. Like the annotation of a class, it does not guard safe HTTP
	 * methods, because a filter applies to all routes of its router function.
	 * @param <R> the type of requests
	 * @param description describes the operation
	 * @param handler the method by which all handlers are called
	 * @throws IdempotencyConfigurationException if the description is invalid
	 */
	public <R> IdempotentOperation add(String name, Consumer<? super IdempotentRoute<R>> description, Method handler) {
		Description<R> route = new Description<>(name, this.defaults);
		if (name.isBlank()) {
			throw route.problem("it has no name", "Set an operation name: it is part of each key");
		}
		description.accept(route);
		IdempotentOperation operation = route.operation(handler, this);
		if (!this.names.add(name)) {
			throw route.problem("another route has the same name, so both would share their keys",
					"Give them different names, or use the same filter for both");
		}
		this.operations.add(operation);
		return operation;
	}

	@Override
	public Collection<IdempotentOperation> operations() {
		return this.operations;
	}

	/**
	 * {@inheritDoc} Rejects a method and a route with the same name, because they would
	 * share keys.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		if (this.names.isEmpty()) {
			return;
		}
		for (IdempotentOperation method : this.annotated.get().operations()) {
			if (this.names.contains(method.name())) {
				throw method.problem(
						"a route has the same name '" + method.name() + "', so both would share their keys",
						"Give them different names");
			}
		}
	}

	/** The description of one route. */
	private static final class Description<R> implements IdempotentRoute<R> {

		private final String name;

		private final List<KeySource> sources = new ArrayList<>();

		private final IdempotencyOptions.Builder options;

		private boolean required = true;

		private boolean token;

		private @Nullable OperationExpression scope;

		private @Nullable OperationExpression condition;

		private FingerprintSource fingerprint = new FingerprintSource.Default();

		private @Nullable String store;

		Description(String name, IdempotencyOptions defaults) {
			this.name = name;
			this.options = defaults.change();
		}

		IdempotencyConfigurationException problem(String problem, String action) {
			return new IdempotencyConfigurationException("The route '" + this.name + "': " + problem, action);
		}

		@SuppressWarnings("unchecked")
		private OperationExpression function(String attribute,
				Function<? super R, ? extends @Nullable Object> function) {
			return OperationExpression.of(attribute, "the route " + this.name, (arguments) -> {
				@Nullable Object value = function.apply((R) arguments[0]);
				return (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
			});
		}

		@Override
		public IdempotentRoute<R> key(Function<? super R, ? extends @Nullable Object> key) {
			this.sources.add(new KeySource.Spel(function("key", key)));
			return this;
		}

		@Override
		public IdempotentRoute<R> header(String header) {
			if (!HeaderKeyParser.isHeaderName(header)) {
				throw problem("its header '" + header + "' is not a valid header name",
						"Write the name of a header only, e.g. \"Idempotency-Key\"");
			}
			this.sources.add(new KeySource.Header(header));
			return this;
		}

		@Override
		public IdempotentRoute<R> body(String pointer) {
			BodyPointers.check(pointer, "body", this::problem);
			this.sources.add(new KeySource.Body(pointer));
			return this;
		}

		@Override
		public IdempotentRoute<R> required(boolean value) {
			this.required = value;
			return this;
		}

		@Override
		public IdempotentRoute<R> token(boolean value) {
			this.token = value;
			return this;
		}

		@Override
		public IdempotentRoute<R> scope(Function<? super R, ? extends @Nullable Object> function) {
			this.scope = function("scope", function);
			return this;
		}

		@Override
		public IdempotentRoute<R> fingerprint(Function<? super R, ? extends @Nullable Object> function) {
			this.fingerprint = new FingerprintSource.Spel(function("fingerprint", function));
			return this;
		}

		@Override
		public IdempotentRoute<R> notCompared() {
			this.fingerprint = new FingerprintSource.None();
			return this;
		}

		@Override
		public IdempotentRoute<R> condition(Predicate<? super R> predicate) {
			this.condition = function("condition", predicate::test);
			return this;
		}

		@Override
		public IdempotentRoute<R> options(Consumer<? super IdempotencyOptions.Builder> options) {
			options.accept(this.options);
			return this;
		}

		@Override
		public IdempotentRoute<R> store(String value) {
			this.store = value;
			return this;
		}

		IdempotentOperation operation(Method handler, RouteRegistry routes) {
			if (this.sources.size() > 1) {
				throw problem("it has more than one of key, header and body",
						"Keep only the attribute that names the key");
			}
			KeySource source = this.sources.isEmpty() ? new KeySource.Header(routes.keyHeader) : this.sources.get(0);
			IdempotencyOptions resolved = this.options.operation(this.name)
				.build(new Attributes(this.fingerprint instanceof FingerprintSource.Spel, this.token,
						this.scope != null, this.store != null, false), this::problem);
			return new IdempotentOperation(new GuardedMethod(handler, handler.getDeclaringClass(), false), resolved,
					new Key(source, this.required, this.token, this.scope, this.condition), this.fingerprint,
					new Result(Object.class, ResultForm.VALUE, null),
					new Place(store(routes), null, UnaryOperator.identity()), OperationTraits.NONE);
		}

		private IdempotencyStore store(RouteRegistry routes) {
			if (this.store == null) {
				return routes.store;
			}
			try {
				return routes.stores.apply(this.store);
			}
			catch (IllegalArgumentException ex) {
				throw new IdempotencyConfigurationException(
						"The route '" + this.name + "': its store " + ex.getMessage(),
						"Set store to the name of a bean of type IdempotencyStore", ex);
			}
		}

	}

}
