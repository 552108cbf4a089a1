package io.idempotency.autoconfigure;

import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.ScopeMode;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.interceptor.InterceptorConfiguration.DefaultStoreFinder;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.OperationTraits.Flag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.util.ClassUtils;
import org.springframework.web.method.HandlerMethod;

/**
 * Logs a message at startup if the application does not configure how to distinguish
 * callers, because in that case all callers share their keys: a warning if the store is
 * shared. A container or a filter of the application may still distinguish callers, which
 * this class cannot detect. A resolver that only the other stack would use is rejected.
 *
 * @param securityFilter the name of the filter bean of Spring Security
 * @param resolver the type of the application's caller resolver
 * @param resolverOfTheOtherStack the type name of resolvers that the other stack uses
 * @param handlers supplies the methods of the controllers
 * @hidden
 */
@Internal
public record UnidentifiedCallerCheck(ApplicationContext context, HttpSettings settings, String securityFilter,
		Class<?> resolver, String resolverOfTheOtherStack,
		Supplier<Stream<HandlerMethod>> handlers) implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(UnidentifiedCallerCheck.class);

	@Override
	public void afterSingletonsInstantiated() {
		boolean resolved = this.context.getBeanProvider(this.resolver).stream().findAny().isPresent();
		if (!resolved) {
			rejectResolverOfTheOtherStack();
		}
		if (!resolved && this.settings.scopeHeaders().stream().anyMatch(HttpHeaders.AUTHORIZATION::equalsIgnoreCase)) {
			logger.warn(
					"[IDEM-505] idempotency.http.scope-headers contains Authorization: after a client refreshes "
							+ "its token, its retries run again. Keep it only for Basic authentication and long-lived "
							+ "keys. Otherwise use Spring Security or a {} bean to identify callers.",
					this.resolver.getSimpleName());
		}
		if (this.settings.scope() == ScopeMode.PRINCIPAL && !this.settings.anonymousRejected()
				&& this.settings.scopeHeaders().isEmpty() && !this.context.containsBean(this.securityFilter)
				&& !resolved && isAnyKeyACallers()) {
			boolean shared = !this.context.getBean(DefaultStoreFinder.class).defaultStore().type().equals("memory");
			logger.atLevel(shared ? Level.WARN : Level.INFO)
				.log("[IDEM-506] Callers of guarded requests cannot be distinguished: without Spring Security or a "
						+ "{} bean, all requests without a principal share their keys. Name the caller's header in "
						+ "idempotency.http.scope-headers, or declare such a bean. If sharing is intended, set "
						+ "idempotency.scope=global.", this.resolver.getSimpleName());
		}
	}

	/** Else the keys of two tenants would be one after the application has moved. */
	private void rejectResolverOfTheOtherStack() {
		ClassLoader loader = this.context.getClassLoader();
		if (!ClassUtils.isPresent(this.resolverOfTheOtherStack, loader)) {
			return;
		}
		Class<?> other = ClassUtils.resolveClassName(this.resolverOfTheOtherStack, loader);
		for (String bean : this.context.getBeanNamesForType(other, true, false)) {
			throw new IdempotencyConfigurationException(
					"Bean '" + bean + "' of type " + other.getSimpleName() + " is not used in this application, so "
							+ "keys would not belong to the callers that it resolves",
					"Declare a bean of type " + this.resolver.getName() + ".");
		}
	}

	private boolean isAnyKeyACallers() {
		IdempotentOperationSource source = this.context.getBean(IdempotentOperationSource.class);
		return this.handlers.get().anyMatch((handler) -> isCallers(handler, source))
				|| source.operations().stream().anyMatch(UnidentifiedCallerCheck::isCallers)
				|| this.context.getBeanProvider(RouteRegistry.class)
					.stream()
					.flatMap((routes) -> routes.operations().stream())
					.anyMatch((route) -> route.key().scope() == null);
	}

	/**
	 * Returns whether the calls of an operation come with requests that do not belong to
	 * a handler mapping.
	 */
	private static boolean isCallers(IdempotentOperation operation) {
		return operation.key().isOfCaller() && operation.traits().has(Flag.REQUEST);
	}

	private static boolean isCallers(HandlerMethod handler, IdempotentOperationSource source) {
		IdempotentOperation operation = source.operation(handler.getMethod(), handler.getBeanType());
		return operation != null && operation.key().scope() == null;
	}

}
