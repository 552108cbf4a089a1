package io.idempotency.ai;

import io.idempotency.Internal;

/**
 * The settings of tools.
 *
 * @param metaKey the member of a request's {@code _meta} that holds the key of a tool
 * whose annotation names no place
 * @param global whether a key is the same for all callers
 * @param async whether the server runs tools on other threads than their requests
 * @param stateless whether the server has no sessions
 * @hidden
 * @since 0.1.0
 */
@Internal
public record ToolSettings(String metaKey, boolean global, boolean async, boolean stateless) {
}
