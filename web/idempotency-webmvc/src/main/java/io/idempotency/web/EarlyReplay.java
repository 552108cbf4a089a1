package io.idempotency.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.interceptor.KeySource;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.PlainHandlers;
import io.idempotency.http.StoredResponseCodec;
import io.idempotency.http.PlainHandlers.TextConversion;
import io.idempotency.http.KnownBody.ContentType;
import io.idempotency.http.RequestFingerprint;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.engine.GuardedCall;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpMethod;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurationSupport;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * Answers a duplicate before the arguments of its handler are bound, where this node has
 * seen the result before, and nothing but the guard protects the handler.
 * <p>
 * A short cut and no second guard: it claims nothing and refuses nothing. Every request
 * that is anything but the repetition of a finished one goes the usual way.
 * <p>
 * Thread-safe.
 */
final class EarlyReplay {

	private static final Logger logger = LoggerFactory.getLogger(EarlyReplay.class);

	/** Spring itself resolves parameters of these types. */
	private static final List<Class<?>> RESOLVED = List.of(ServletRequest.class, ServletResponse.class,
			WebRequest.class, HttpMethod.class, Principal.class, InputStream.class, OutputStream.class, Reader.class,
			Writer.class, Locale.class, TimeZone.class, UriComponentsBuilder.class);

	private final IdempotencyEngine engine;

	private final OperationKeyReader keys;

	private final HttpCallerResolver callers;

	private final Namespace namespace;

	private final RequestFingerprint fingerprints;

	private final HandlerOperationFinder operations;

	private final PlainHandlers plain;

	/**
	 * Creates the short cut.
	 * @param engine gives the results
	 * @param callers determines the callers, who own the keys
	 * @param settings of the door
	 * @param namespace the namespace of the operations
	 * @param operations knows the operations
	 * @param context knows who takes part in the binding of arguments
	 */
	EarlyReplay(IdempotencyEngine engine, OperationKeyReader keys, HttpCallerResolver callers, HttpSettings settings,
			Namespace namespace, Supplier<IdempotentOperationSource> operations, ApplicationContext context) {
		this.engine = engine;
		this.keys = keys;
		this.callers = callers;
		this.namespace = namespace;
		this.fingerprints = new RequestFingerprint(settings);
		this.operations = new HandlerOperationFinder(operations);
		this.plain = new PlainHandlers(context, RESOLVED, RequestBodyAdvice.class::isAssignableFrom,
				() -> adapters(context).flatMap((adapter) -> adapter.getMessageConverters().stream()),
				new TextConversion(context,
						() -> adapters(context).map(RequestMappingHandlerAdapter::getWebBindingInitializer),
						WebMvcConfigurer.class, WebMvcConfigurationSupport.class));
	}

	private static Stream<RequestMappingHandlerAdapter> adapters(ApplicationContext context) {
		return BeanFactoryUtils.beansOfTypeIncludingAncestors(context, RequestMappingHandlerAdapter.class, true, false)
			.values()
			.stream();
	}

	/**
	 * Answers a request if it is the repetition of a finished one. To be asked after all
	 * interceptors of the application.
	 * @return whether the filter will send the stored answer, so that nothing may run
	 * @throws IOException if a part of the body could not be read
	 */
	boolean replays(HttpServletRequest request, Object handler) throws IOException {
		if (!(handler instanceof HandlerMethod method) || request.getDispatcherType() != DispatcherType.REQUEST) {
			return false;
		}
		// Most requests have passed the filter, so that is asked first.
		Exchange exchange = Exchange.find(request);
		if (exchange == null || RecordingRequest.find(request) == null) {
			return false;
		}
		IdempotentOperation operation = this.operations.of(request);
		if (operation == null || !isSimple(operation) || isForm(request) || !this.plain.contains(method)) {
			return false;
		}
		try {
			HttpRequestValues values = new HttpRequestValues(request);
			IdempotencyKey key = key(operation, request, values);
			if (key == null) {
				return false;
			}
			exchange.made(operation, key);
			return this.engine.mayReplayEarly(operation.place().store(), key) && this.engine.replayEarly(
					call(operation, key, values),
					(result) -> exchange.replayed(StoredResponseCodec.decode(result), request, operation.name()));
		}
		catch (RuntimeException ex) {
			// The guard will throw the exception again, unless other code refuses the
			// request first.
			logger.trace("Not replayed early", ex);
			return false;
		}
	}

	/**
	 * Returns whether the body is a form. The first of container and guard to come reads
	 * a form, and the other one cannot read it again, so a look at it here would change
	 * what the guard compares.
	 */
	private static boolean isForm(HttpServletRequest request) {
		return ContentType.of(request.getContentType()).isForm();
	}

	/**
	 * Returns whether the guard needs no argument of the handler, no transaction that is
	 * there already, and no resolver: that may take long, and the guard would ask it once
	 * more.
	 */
	private boolean isSimple(IdempotentOperation operation) {
		return !this.callers.areResolved() && operation.options().mode() == IdempotencyMode.REPLAY
				&& operation.key().source() instanceof KeySource.Header && !operation.key().token()
				&& operation.key().scope() == null && operation.key().condition() == null
				&& (operation.place().ofThreads() == null || operation.place().ofThreads().wouldBegin())
				&& !(operation.fingerprint() instanceof FingerprintSource.Spel);
	}

	private @Nullable IdempotencyKey key(IdempotentOperation operation, HttpServletRequest request,
			HttpRequestValues values) {
		String key = this.keys.header(operation, (KeySource.Header) operation.key().source(), values);
		return (key != null) ? this.namespace.key(operation.name(), this.callers.owner(request, operation.name()), key)
				: null;
	}

	private GuardedCall call(IdempotentOperation operation, IdempotencyKey key, HttpRequestValues values)
			throws IOException {
		boolean compared = operation.fingerprint() instanceof FingerprintSource.Default;
		Fingerprint fingerprint = compared ? this.fingerprints.of(values, operation.key().source()) : Fingerprint.NONE;
		return new GuardedCall(key, fingerprint, operation.options(), operation.place().store());
	}

}
