/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is this a build under a sanitizer, in which the same work takes many times as long? Then tests
 * that generate their cases take fewer of them; the plain build takes all. */
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SLOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(IS_SLOW)
#define IS_SLOW 1
#endif
#ifndef IS_SLOW
#define IS_SLOW 0
#endif
