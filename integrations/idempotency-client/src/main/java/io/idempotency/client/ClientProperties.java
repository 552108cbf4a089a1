package io.idempotency.client;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of clients that send keys.
 *
 * @param header Name of the request header in which clients send the key.
 */
@ConfigurationProperties("idempotency.client")
record ClientProperties(@DefaultValue("Idempotency-Key") String header) {
}
