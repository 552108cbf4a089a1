package io.idempotency.interceptor;

import java.time.Duration;

import io.idempotency.Internal;

/**
 * The settings of {@link InterceptorConfiguration}.
 *
 * @param keyHeader the key header of handlers whose annotation names no key source
 * @param storeTimeout the timeout for the begin and the end of a reactive transaction
 * @hidden
 */
@Internal
public record InterceptorSettings(String keyHeader, Duration storeTimeout) {

}
